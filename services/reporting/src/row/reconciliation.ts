import { setTimeout } from 'node:timers/promises';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { erase, type ProjectionParts, project, type TicketsCall } from './projection.ts';

/** How many rows differed from their tickets. */
export interface Drift {
  /** Tickets without a row. */
  missing: number;
  /** Rows with an older version than their ticket. */
  stale: number;
  /** Rows whose ticket was deleted or never existed. */
  surplus: number;
  /** Tickets that were compared. */
  compared: number;
}

/** How rows are compared with tickets. */
export interface ReconcileOptions {
  /** The generation of the rows. */
  generation: number;
  /** How long an event may take to arrive, in ms. Only a difference that lasts longer counts as drift. */
  graceMs: number;
  signal: AbortSignal;
  /** Called after each page with the number of tickets that were compared so far. */
  onPage?: (compared: number) => Promise<void> | void;
}

/** How long an event may take to arrive before a difference counts as drift. */
export const eventGraceMs = 5_000;

/** A row that seems to differ from its ticket. */
interface Suspect {
  id: number;
  version: number;
  kind: 'missing' | 'stale' | 'surplus';
  /** Whether the tickets service knows the ticket, even if only as deleted. */
  isKnown: boolean;
}

const maxId = 2 ** 31 - 1;
const repairBatchSize = 100;

/** Compares the ids and versions of all tickets with the rows, page by page, and repairs the rows that differ. */
export async function reconcile(parts: ProjectionParts, options: ReconcileOptions): Promise<Drift> {
  const drift: Drift = { missing: 0, stale: 0, surplus: 0, compared: 0 };
  const call = { trace: continueTrace(undefined), signal: options.signal };
  let afterId = 0;
  while (!options.signal.aborted) {
    const tickets = await parts.tickets.versions(afterId);
    const upToId = tickets.at(-1)?.ticketId ?? maxId;
    const suspects = await findSuspects(parts, options.generation, { tickets, afterId, upToId });
    const differing = suspects.length === 0 ? [] : await confirmSuspects(parts, suspects, options);
    for (const { kind } of differing) drift[kind] += 1;
    await repair(parts, differing, call);
    drift.compared += tickets.length;
    await options.onPage?.(drift.compared);
    if (tickets.length === 0) return drift;
    afterId = upToId;
  }
  return drift;
}

async function repair(parts: ProjectionParts, differing: readonly Suspect[], call: TicketsCall): Promise<void> {
  const toProject = differing.filter(({ kind }) => kind !== 'surplus').map(({ id }) => id);
  for (let at = 0; at < toProject.length; at += repairBatchSize) {
    await project(parts, toProject.slice(at, at + repairBatchSize), call);
  }
  for (const { id, version, isKnown } of differing.filter(({ kind }) => kind === 'surplus')) {
    if (isKnown) {
      await erase(parts, id, version);
      await parts.tickets.confirmErasure(id, call);
    } else await parts.rows.remove(id, version);
  }
}

/** All tickets with an id above `afterId`, up to `upToId`. */
interface TicketPage {
  tickets: readonly { ticketId: number; version: number; deleted: boolean }[];
  afterId: number;
  upToId: number;
}

async function findSuspects(parts: ProjectionParts, generation: number, page: TicketPage): Promise<Suspect[]> {
  const rows = await parts.rows.versions(generation, page.afterId, page.upToId);
  const rowOfId = new Map(rows.map((row) => [row.id, row]));
  const suspects: Suspect[] = [];
  for (const { ticketId: id, version, deleted } of page.tickets) {
    const row = rowOfId.get(id);
    rowOfId.delete(id);
    if (deleted && !row?.isErased) suspects.push({ id, version, kind: 'surplus', isKnown: true });
    else if (!deleted && !row) suspects.push({ id, version, kind: 'missing', isKnown: true });
    else if (!deleted && row && row.version < version) suspects.push({ id, version, kind: 'stale', isKnown: true });
  }
  // The remaining rows have no ticket, not even a deleted one.
  for (const row of rowOfId.values()) {
    if (!row.isErased) suspects.push({ ...row, kind: 'surplus', isKnown: false });
  }
  return suspects;
}

/** Returns the suspects that still differ after the grace time. */
async function confirmSuspects(
  parts: ProjectionParts,
  suspects: readonly Suspect[],
  options: ReconcileOptions,
): Promise<Suspect[]> {
  if (options.graceMs > 0) await setTimeout(options.graceMs, undefined, { signal: options.signal });
  const ids = suspects.map(({ id }) => id);
  const rows = await parts.rows.versions(options.generation, Math.min(...ids) - 1, Math.max(...ids));
  const rowOfId = new Map(rows.map((row) => [row.id, row]));
  const differing = suspects.filter(({ id, version, kind }) => {
    const row = rowOfId.get(id);
    if (kind === 'surplus') return !row?.isErased;
    return !row?.isErased && (row?.version ?? 0) < version;
  });
  // A ticket that was unknown may have been created after the tickets were listed.
  const isConfirmed = await Promise.all(
    differing.map(async ({ id, isKnown }) => isKnown || !(await ticketExists(parts, id))),
  );
  return differing.filter((_, index) => isConfirmed[index]);
}

async function ticketExists(parts: ProjectionParts, id: number): Promise<boolean> {
  const [ticket] = await parts.tickets.versions(id - 1);
  return ticket?.ticketId === id;
}

/**
 * Builds all rows again from the tickets, in a new generation, and then makes it the active one. Continues a rebuild
 * that was interrupted. Returns the number of tickets.
 */
export async function rebuild(parts: ProjectionParts, options: Omit<ReconcileOptions, 'generation'>): Promise<number> {
  const generation = await parts.rows.startBuilding();
  let total = 0;
  // The first pass does not wait for events, because every row is missing.
  for (let graceMs = 0; ; graceMs = options.graceMs) {
    const { missing, stale, surplus, compared } = await reconcile(parts, { ...options, generation, graceMs });
    options.signal.throwIfAborted();
    total = compared;
    if (missing + stale + surplus === 0) break;
  }
  await parts.rows.finishBuilding(generation);
  return total;
}
