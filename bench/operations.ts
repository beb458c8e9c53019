import { type Dataset, firstSecond, idOf } from './dataset.ts';
import type { Shot, Target } from './load.ts';

/** The operations that are compared with bare routes. */
export const operationNames = ['get', 'search', 'create', 'patch', 'getLatest'] as const;

/** The name of such an operation. */
export type OperationName = (typeof operationNames)[number];

type PageName = 'getLatestSkills' | 'firstPage' | 'offsetPage';

const open = [{ key: 't.status', comparator: '=', value: 'open' }];
const newest = { filters: open, orderByField: 't.createdAt', orderByDirection: 'desc' };
const priorities = ['low', 'medium', 'high', 'urgent'];

/** A set of tickets, and cursors into its open ones. */
export interface LoadedSet extends Dataset {
  cursors: readonly string[];
}

/** The requests of each operation on a set of tickets. */
export const operations: Record<OperationName | PageName, (set: LoadedSet) => () => Shot> = {
  get: (set) => () => ({ method: 'GET', path: `/ticket/${anyId(set)}?includeSessions=false` }),
  search:
    ({ cursors }) =>
    () => ({
      method: 'POST',
      path: '/ticket/search',
      body: { ...newest, limit: 100, cursor: cursors[Math.floor(Math.random() * cursors.length)] },
    }),
  create: () => () => ({ method: 'POST', path: '/ticket', body: { channel: 'email', subject: 'Zähler', body: text } }),
  patch: (set) => () => ({
    method: 'PATCH',
    path: `/ticket/${anyId(set)}`,
    body: { priority: priorities[Math.floor(Math.random() * 4)] },
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
  firstPage: () => () => ({ method: 'POST', path: '/ticket/search', body: { ...newest, limit: 100 } }),
  offsetPage:
    ({ count }) =>
    () => ({
      method: 'POST',
      path: '/ticket/search',
      body: { ...newest, limit: 100, offset: Math.floor(count / 10) },
    }),
};

/** The same search on the bare route, which knows no cursor: behind a time of creation. */
export function bareSearch({ count }: Dataset): () => Shot {
  const before = () => (firstSecond + Math.floor(Math.random() * count)) * 1000;
  return () => ({ method: 'POST', path: '/ticket/search', body: { limit: 100, before: before() } });
}

/** Reads the cursors of the first pages. */
export async function readCursors(target: Target): Promise<string[]> {
  const cursors: string[] = [];
  let cursor: string | null | undefined;
  do {
    const body = JSON.stringify({ ...newest, limit: 100, cursor: cursor ?? null });
    const headers = { ...target.headers, 'content-type': 'application/json' };
    const response = await fetch(`${target.url}/ticket/search`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`The search answered ${response.status}.`);
    cursor = ((await response.json()) as { nextCursor: string | null }).nextCursor;
    if (cursor) cursors.push(cursor);
  } while (cursor && cursors.length < 100);
  return cursors.slice(0, -1);
}

const text = `<p>${'Guten Tag, mein Zähler steht. '.repeat(20)}</p>`;

function anyId({ count }: Dataset): number {
  return idOf(Math.floor(Math.random() * count));
}
