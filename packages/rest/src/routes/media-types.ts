import type { RestRule } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import Negotiator from 'negotiator';

/** Returns the media types of the successful responses of a route. */
export function responseMediaTypes({ produces }: Pick<RestRule, 'produces'>): readonly string[] {
  return produces.length > 0 ? produces : ['application/json'];
}

/** One of the routes that share a verb and a path. */
interface Alternative {
  mediaTypes: readonly string[];
}

/**
 * Returns the alternative whose media type an `Accept` header prefers. The first one if there is no header, or if the header
 * accepts none of them.
 *
 * Source: RFC 9110, section 12.5.1.
 */
export function chooseAccepted<Route extends Alternative>(routes: readonly Route[], accept: string | undefined): Route {
  const [first] = routes;
  if (!first) throw new Error('there is nothing to choose from');
  const available = routes.flatMap(({ mediaTypes }) => mediaTypes);
  const headers = accept === undefined ? {} : { accept };
  const preferred = new Negotiator({ headers }).mediaType(available);
  return routes.find(({ mediaTypes }) => preferred !== undefined && mediaTypes.includes(preferred)) ?? first;
}
