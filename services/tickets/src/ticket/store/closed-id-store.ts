import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { duplicatesIn, isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import { wordsRules } from '../rules/search-words.ts';
import type { TicketCollection, TicketDocument } from './schema.ts';

/**
 * The closed ids: from 1 to the last closed one, each id has a document, so nothing can be inserted there any more, and
 * nobody has to count them. Ids that no ticket has got become void.
 *
 * Errors of every operation: store_unavailable.
 */
export interface ClosedIdStore {
  /** A last closed id; it may be older than the newest one, by a minute and more. */
  last(): Promise<number>;
  /**
   * Closes the ids up to one that had been given to a ticket `closedAfterMs` ago. Call it from time to time. Several
   * processes may do so at once.
   */
  close(now: Date): Promise<void>;
  /** Opens all ids again if a document is missing, for example because a backup was restored. Returns whether it did. */
  openIfIncomplete(): Promise<boolean>;
  isVoid(id: number): Promise<boolean>;
}

/** How long an id has been the highest one before it is closed. A request that has got a lower id has long ended by then. */
export const closedAfterMs = 10 * 60_000;
/** Longer gaps are no ids of requests that have failed: somebody has raised the counter. They are never filled. */
export const maxGap = 10_000;

interface ClosedIds {
  _id: string;
  last: number;
  /** The highest id at some time, which will be closed. */
  next?: { id: number; at: Date } | null;
}

type States = mongo.Collection<ClosedIds>;

const stateId = 'ticket';
const idsAtOnce = 5_000;
/** How long a process counts from the last closed id that it has read. */
const rereadAfterMs = 60_000;

export function closedIdStore(connection: Connection, tickets: TicketCollection): ClosedIdStore {
  const states = openCollection<ClosedIds>(connection, 'closedIds');
  const read = async () => (await states.findOne({ _id: stateId })) ?? { _id: stateId, last: 0 };
  return {
    last: cached(() => storeCall(async () => (await read()).last)),
    close: (now) => storeCall(async () => closeNext(states, tickets, await read(), now)),
    openIfIncomplete: () =>
      storeCall(async () => {
        const { last } = await read();
        if (last === 0 || (await tickets.countDocuments({ _id: { $gte: 1, $lte: last } })) === last) return false;
        return write(states, last, { last: 0, next: null });
      }),
    isVoid: (id) => storeCall(async () => (await tickets.findOne({ _id: id, isVoid: true })) !== null),
  };
}

/** Returns what was read before, and reads it again in the background if that was long ago. */
function cached(read: () => Promise<number>): () => Promise<number> {
  let known: Promise<number> | undefined;
  let readAt = 0;
  const readAgain = () => {
    readAt = performance.now();
    const reading = read();
    reading.then(
      () => {
        known = reading;
      },
      () => undefined,
    );
    return reading;
  };
  return () => {
    if (!known) return readAgain();
    if (performance.now() - readAt > rereadAfterMs) readAgain().catch(() => undefined);
    return known;
  };
}

async function closeNext(
  states: States,
  tickets: TicketCollection,
  { last, next }: ClosedIds,
  now: Date,
): Promise<void> {
  const isChosen = next && next.id > last;
  if (isChosen && now.getTime() - next.at.getTime() < closedAfterMs) return;
  const closed = isChosen ? await closeUpTo(states, tickets, { last, next: next.id }, now) : last;
  const highest = (await tickets.findOne({}, { projection: { _id: 1 }, sort: { _id: -1 } }))?._id ?? 0;
  if (closed !== undefined && highest > closed) await write(states, closed, { next: { id: highest, at: now } });
}

/**
 * Returns the last id that is closed now: before a gap that is too long, if there is one. Returns undefined if another
 * process has closed or opened ids meanwhile.
 */
async function closeUpTo(
  states: States,
  tickets: TicketCollection,
  { last, next }: { last: number; next: number },
  now: Date,
): Promise<number | undefined> {
  let closed = last;
  for (;;) {
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit: idsAtOnce } as const;
    const found = await tickets.find({ _id: { $gt: closed, $lte: next } }, options).toArray();
    const ids = found.map(({ _id }) => _id);
    const { end, missing } = gapsIn(ids, closed);
    if (missing.length > 0) await insertVoid(tickets, missing, now);
    if (end > closed && !(await write(states, closed, { last: end }))) return undefined;
    closed = end;
    if (ids.length < idsAtOnce || end < (ids.at(-1) ?? 0)) return closed;
  }
}

/** Lists the ids that are missing among ascending ones after `start`, and where these end, or a gap that is too long begins. */
function gapsIn(ids: readonly number[], start: number): { end: number; missing: number[] } {
  const missing: number[] = [];
  let end = start;
  for (const id of ids) {
    if (id - end - 1 > maxGap) break;
    for (let gap = end + 1; gap < id; gap++) missing.push(gap);
    end = id;
  }
  return { end, missing };
}

/** An id that has got a ticket meanwhile keeps it. */
async function insertVoid(tickets: TicketCollection, ids: readonly number[], now: Date): Promise<void> {
  for (let start = 0; start < ids.length; start += idsAtOnce) {
    const documents = ids
      .slice(start, start + idsAtOnce)
      .map((_id) => ({ _id, deletedAt: now, isVoid: true, wordsRules }));
    try {
      await tickets.insertMany(documents as unknown as TicketDocument[], { ordered: false });
    } catch (error) {
      if (!duplicatesIn(error)) throw error;
    }
  }
}

/** Writes the state, unless another process has closed or opened ids meanwhile: returns false then. */
async function write(states: States, last: number, change: Partial<ClosedIds>): Promise<boolean> {
  const { matchedCount } = await states.updateOne({ _id: stateId, last }, { $set: change });
  if (matchedCount === 1 || last > 0) return matchedCount === 1;
  try {
    await states.insertOne({ _id: stateId, last, ...change });
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
