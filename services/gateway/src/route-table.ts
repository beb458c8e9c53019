import type { DescService } from '@bufbuild/protobuf';
import { maxBodyBytesOf, restRuleOf } from '@ticketing/rest/options.ts';

/** What the gateway knows of a route of a contract. */
export interface ContractRoute {
  /** Verb and path as the contract writes them; the name of the route in metrics. */
  name: string;
  maxBodyBytes: number;
  /** Whether a cookie request must come from the same origin although its verb is safe. */
  isSameOriginOnly: boolean;
}

/** The routes of contracts. */
export interface RouteTable {
  /** The first segments of all paths, such as `/ticket`. */
  prefixes: readonly string[];
  /** The route of a request, by its verb and undecoded path; undefined where the contracts name none. */
  find(verb: string, path: string): ContractRoute | undefined;
}

interface Entry {
  verb: string;
  /** The segments of the path; null stands for any. */
  segments: readonly (string | null)[];
  route: ContractRoute;
}

/** Reads the routes of contracts. */
export function routeTable(services: readonly DescService[]): RouteTable {
  const entries = services.flatMap(entriesOf);
  // Where two fit, the one that is literal for longer.
  entries.sort((left, right) => firstAny(right) - firstAny(left));
  const byVerbAndLength = Map.groupBy(entries, ({ verb, segments }) => `${verb} ${segments.length}`);
  return {
    prefixes: [...new Set(entries.map(({ segments }) => `/${segments[0]}`))],
    find(verb, path) {
      const segments = path.slice(1).split('/').map(decodeSegment);
      const candidates = byVerbAndLength.get(`${verb === 'HEAD' ? 'GET' : verb} ${segments.length}`) ?? [];
      return candidates.find((entry) => fits(entry, segments))?.route;
    },
  };
}

function entriesOf(service: DescService): Entry[] {
  return service.methods.flatMap((method) => {
    const rule = restRuleOf(method);
    if (!rule) return [];
    const segments = rule.path.slice(1).split('/');
    const route = {
      name: `${rule.method} ${rule.path}`,
      maxBodyBytes: maxBodyBytesOf(method),
      isSameOriginOnly: rule.sameOriginOnly,
    };
    return [{ verb: rule.method, segments: segments.map((part) => (part.startsWith('{') ? null : part)), route }];
  });
}

function firstAny({ segments }: Entry): number {
  const index = segments.indexOf(null);
  return index < 0 ? segments.length : index;
}

function fits(entry: Entry, segments: readonly string[]): boolean {
  return entry.segments.every((segment, index) => segment === null || segment === segments[index]);
}

// A service decodes what it is sent, so `/tick%65t` is its `/ticket`.
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
