import type { DescService } from '@bufbuild/protobuf';
import { readMaxBodyBytes, readRestRule } from '@ticketing/rest/codec/options.ts';

/** A route of a contract, with its body limit and its same-origin rule. */
export interface ContractRoute {
  /** The verb and path from the contract, such as `GET /ticket/{ticket_id}`. Used in metrics. */
  name: string;
  maxBodyBytes: number;
  /** Whether a cookie request must come from the same origin even if its verb is safe. */
  isSameOriginOnly: boolean;
}

/** The routes of contracts. */
export interface RouteTable {
  /** The first segments of all paths, such as `/ticket`. */
  prefixes: readonly string[];
  /** Returns the route for a verb and an undecoded path; undefined if the contracts have none. */
  find(verb: string, path: string): ContractRoute | undefined;
}

interface Entry {
  verb: string;
  /** The segments of the path; null matches any segment. */
  segments: readonly (string | null)[];
  route: ContractRoute;
}

/** Reads the routes of contracts. */
export function routeTable(services: readonly DescService[]): RouteTable {
  const entries = services.flatMap(toEntries);
  // If two routes match, the one with more literal segments at its start wins.
  entries.sort((left, right) => literalLength(right) - literalLength(left));
  const byVerbAndLength = Map.groupBy(entries, ({ verb, segments }) => `${verb} ${segments.length}`);
  return {
    prefixes: [...new Set(entries.map(({ segments }) => `/${segments[0]}`))],
    find(verb, path) {
      // A trailing slash is ignored, because a service may treat both paths as the same.
      const segments = path.slice(1).replace(/\/$/, '').split('/').map(decodeSegment);
      const candidates = byVerbAndLength.get(`${verb === 'HEAD' ? 'GET' : verb} ${segments.length}`) ?? [];
      return candidates.find((entry) => matches(entry, segments))?.route;
    },
  };
}

function toEntries(service: DescService): Entry[] {
  return service.methods.flatMap((method) => {
    const rule = readRestRule(method);
    if (!rule) return [];
    const segments = rule.path.slice(1).split('/');
    const route = {
      name: `${rule.method} ${rule.path}`,
      maxBodyBytes: readMaxBodyBytes(method),
      isSameOriginOnly: rule.sameOriginOnly,
    };
    return [{ verb: rule.method, segments: segments.map((part) => (part.startsWith('{') ? null : part)), route }];
  });
}

function literalLength({ segments }: Entry): number {
  const index = segments.indexOf(null);
  return index < 0 ? segments.length : index;
}

function matches(entry: Entry, segments: readonly string[]): boolean {
  return entry.segments.every((segment, index) => segment === null || segment === segments[index]);
}

// Services decode paths, so `/tick%65t` reaches the same route as `/ticket`.
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
