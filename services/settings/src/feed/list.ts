import type {
  ListEventsRequest,
  ListEventsResponse,
} from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { FeedParts } from './open.ts';
import { findStart, readFeed, toFilter } from './read.ts';
import { eventCursor } from './rules/cursor.ts';

const defaultLimit = 100;

/** Returns the events after a cursor. Errors: invalid_cursor, cursor_expired. */
export async function listEvents(
  { events: store }: FeedParts,
  _call: Call,
  request: ListEventsRequest,
): Promise<ListEventsResponse> {
  // The end is read before the events, so that every event before `next` has been looked at.
  const { after, upTo } = await findStart(store, request.after, '#/after');
  const { events, next } = await readFeed(store, after, upTo, toFilter(request), request.limit ?? defaultLimit);
  return {
    $typeName: 'ticketing.settings.v1.ListEventsResponse',
    events: events.map(({ event }) => event),
    next: eventCursor(next),
  };
}
