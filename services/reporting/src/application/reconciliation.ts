import { setTimeout } from 'node:timers/promises';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { erase, type Projection, project } from './projection.ts';

/** How the rows differed from the tickets. */
export interface Drift {
  /** Tickets without a row. */
  missing: number;
  /** Rows of an older version. */
  stale: number;
  /** Rows of tickets that were deleted, or never were. */
  surplus: number;
  /** Tickets that were compared. */
  compared: number;
}

/** How rows are compared with tickets. */
export interface ReconcileOptions {
  generation: number;
  /** How long an event may be on its way: only what differs for longer is a drift. */
  graceMs: number;
  signal: AbortSignal;
  /** Told after each page. */
  onPage?: (compared: number) => Promise<void> | void;
}

interface Suspect {
  id: number;
  version: number;
  kind: 'missing' | 'stale' | 'surplus';
  /** Whether the tickets service knows the ticket, if only as deleted. */
  isKnown: boolean;
}

const maxId = 2 ** 31 - 1;
const repairAtOnce = 100;

/** Compares the ids and versions of all tickets with the rows, page by page, and repairs what differs. */
export async function reconcile(projection: Projection, options: ReconcileOptions): Promise<Drift> {
  const drift: Drift = { missing: 0, stale: 0, surplus: 0, compared: 0 };
  const reason = { trace: continueTrace(undefined), signal: options.signal };
  let afterId = 0;
  while (!options.signal.aborted) {
    const tickets = await projection.tickets.versions(afterId);
    const upToId = tickets.at(-1)?.ticketId ?? maxId;
    const suspects = await findSuspects(projection, options.generation, { tickets, afterId, upToId });
    const found = suspects.length === 0 ? [] : await confirmed(projection, suspects, options);
    for (const { kind } of found) drift[kind] += 1;
    const toProject = found.filter(({ kind }) => kind !== 'surplus').map(({ id }) => id);
    for (let at = 0; at < toProject.length; at += repairAtOnce) {
      await project(projection, toProject.slice(at, at + repairAtOnce), reason);
    }
    for (const { id, version, isKnown } of found.filter(({ kind }) => kind === 'surplus')) {
      if (isKnown) await erase(projection, id, version, reason);
      else await projection.rows.remove(id, version);
    }
    drift.compared += tickets.length;
    await options.onPage?.(drift.compared);
    if (tickets.length === 0) return drift;
    afterId = upToId;
  }
  return drift;
}

interface Page {
  tickets: readonly { ticketId: number; version: number; deleted: boolean }[];
  afterId: number;
  upToId: number;
}

async function findSuspects(projection: Projection, generation: number, page: Page): Promise<Suspect[]> {
  const rows = await projection.rows.versions(generation, page.afterId, page.upToId);
  const rowOfId = new Map(rows.map((row) => [row.id, row]));
  const suspects: Suspect[] = [];
  for (const { ticketId: id, version, deleted } of page.tickets) {
    const row = rowOfId.get(id);
    rowOfId.delete(id);
    if (deleted && !row?.isErased) suspects.push({ id, version, kind: 'surplus', isKnown: true });
    else if (!deleted && !row) suspects.push({ id, version, kind: 'missing', isKnown: true });
    else if (!deleted && row && row.version < version) suspects.push({ id, version, kind: 'stale', isKnown: true });
  }
  // What is left has no ticket, not even a deleted one.
  for (const row of rowOfId.values()) {
    if (!row.isErased) suspects.push({ ...row, kind: 'surplus', isKnown: false });
  }
  return suspects;
}

/** Those that still differ when events that were on their way have arrived. */
async function confirmed(
  projection: Projection,
  suspects: readonly Suspect[],
  options: ReconcileOptions,
): Promise<Suspect[]> {
  if (options.graceMs > 0) await setTimeout(options.graceMs, undefined, { signal: options.signal });
  const ids = suspects.map(({ id }) => id);
  const rows = await projection.rows.versions(options.generation, Math.min(...ids) - 1, Math.max(...ids));
  const rowOfId = new Map(rows.map((row) => [row.id, row]));
  const left = suspects.filter(({ id, version, kind }) => {
    const row = rowOfId.get(id);
    if (kind === 'surplus') return !row?.isErased;
    return !row?.isErased && (row?.version ?? 0) < version;
  });
  const checked = await Promise.all(left.map(async (one) => one.isKnown || !(await exists(projection, one.id))));
  return left.filter((_, index) => checked[index]);
}

/** A ticket may have been created after the others were listed. */
async function exists(projection: Projection, id: number): Promise<boolean> {
  const [ticket] = await projection.tickets.versions(id - 1);
  return ticket?.ticketId === id;
}

/**
 * Makes all rows anew from the tickets, beside those that are read meanwhile, and then lets the new ones be read. One that
 * was broken off is gone on with.
 */
export async function rebuild(projection: Projection, options: Omit<ReconcileOptions, 'generation'>): Promise<number> {
  const generation = await projection.rows.startBuilding();
  let total = 0;
  // At first all is missing; later only what is missing for longer than an event is on its way.
  for (let graceMs = 0; ; graceMs = options.graceMs) {
    const { missing, stale, surplus, compared } = await reconcile(projection, { ...options, generation, graceMs });
    options.signal.throwIfAborted();
    total = compared;
    if (missing + stale + surplus === 0) break;
  }
  await projection.rows.finishBuilding(generation);
  return total;
}
