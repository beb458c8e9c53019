import { type Dataset, firstSecond, toId } from './dataset.ts';
import { type Address, call, type LoadRequest, type NextRequest, pickAny } from './load.ts';

/** The operations that are compared with bare routes. */
export const operationNames = ['get', 'search', 'create', 'patch', 'getLatest'] as const;

/** The name of such an operation. */
export type OperationName = (typeof operationNames)[number];

/** The names of the reads that are measured on a small and on a large set of tickets. */
export const readNames = ['search', 'getLatestSkills', 'firstPage', 'offsetPage'] as const;

/** The name of such a read. */
export type ReadName = (typeof readNames)[number];

const openFilter = [{ key: 't.status', comparator: '=', value: 'open' }];
const newestFirst = { filters: openFilter, orderByField: 't.createdAt', orderByDirection: 'desc' };
const priorities = ['low', 'medium', 'high', 'urgent'];
const body = `<p>${'Guten Tag, mein Zähler steht. '.repeat(20)}</p>`;

/** A set of tickets, with cursors into its open ones. */
export interface LoadedSet extends Dataset {
  cursors: readonly string[];
}

/** The requests of each operation to the system. */
export const operations: Record<OperationName | ReadName, (set: LoadedSet) => NextRequest> = {
  get: (set) => () => ({ method: 'GET', path: `/ticket/${anyId(set)}?includeSessions=false` }),
  search:
    ({ cursors }) =>
    () => ({
      method: 'POST',
      path: '/ticket/search',
      body: { ...newestFirst, limit: 100, cursor: pickAny(cursors) },
    }),
  create: () => () => ({ method: 'POST', path: '/ticket', body: { channel: 'email', subject: 'Zähler', body } }),
  patch: (set) => () => ({
    method: 'PATCH',
    path: `/ticket/${anyId(set)}`,
    body: { priority: pickAny(priorities) },
  }),
  getLatest: (set) => () => ({
    method: 'POST',
    path: '/ticket/getLatest',
    body: { preferredDirection: 'next', ticketId: anyId(set) },
  }),
  getLatestSkills: (set) => () => ({
    method: 'POST',
    path: '/ticket/getLatest',
    body: { preferredDirection: 'next', ticketId: anyId(set), ticketScope: 'skills' },
  }),
  firstPage: () => () => ({ method: 'POST', path: '/ticket/search', body: { ...newestFirst, limit: 100 } }),
  offsetPage:
    ({ count }) =>
    () => ({
      method: 'POST',
      path: '/ticket/search',
      body: { ...newestFirst, limit: 100, offset: Math.floor(count / 10) },
    }),
};

/** The requests of an operation to the bare route that does the same work. */
export function sameWorkRequests(name: OperationName, set: LoadedSet): NextRequest {
  return name === 'search' ? searchByTime(set) : operations[name](set);
}

/** The requests to the bare route with one round trip; undefined if the one with the same work makes only one. */
export function oneRoundTripRequests(name: OperationName, set: LoadedSet): NextRequest | undefined {
  if (name === 'search' || name === 'create') return undefined;
  const next = operations[name](set);
  return () => {
    const request = next();
    return { ...request, path: `/one-round-trip${request.path}` };
  };
}

/** The requests of the bare search, whose pages begin at a creation time, because it has no cursors. */
function searchByTime({ count }: Dataset): NextRequest {
  const before = () => (firstSecond + Math.floor(Math.random() * count)) * 1000;
  return (): LoadRequest => ({ method: 'POST', path: '/ticket/search', body: { limit: 100, before: before() } });
}

/** Reads the cursors of the first 100 pages of a list; the last page is left out, because it may not be full. */
export async function readCursors(system: Address, list: object = newestFirst): Promise<string[]> {
  const cursors: string[] = [];
  let cursor: string | null | undefined;
  do {
    const body = { ...list, limit: 100, cursor: cursor ?? null };
    const page = await call<{ nextCursor: string | null }>(system, { method: 'POST', path: '/ticket/search', body });
    cursor = page.nextCursor;
    if (cursor) cursors.push(cursor);
  } while (cursor && cursors.length < 100);
  return cursors.slice(0, -1);
}

function anyId({ count }: Dataset): number {
  return toId(Math.floor(Math.random() * count));
}
