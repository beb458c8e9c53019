import { randomUUID } from 'node:crypto';
import type { Connection, mongo } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';
import { serverTime } from '../connection/server-time.ts';
import { isDuplicateKey, retryUpsert, storeCall } from '../document/store-error.ts';
import {
  type AuditEntry,
  type AuditedChange,
  type ChainPoint,
  type ChainReport,
  chainStart,
  checkChain,
  entryAfter,
} from './audit-chain.ts';

/**
 * The record of who changed and deleted what in a service, as a chain of entries that cannot be altered unnoticed.
 *
 * A change is recorded before it is made, and becomes an entry when it was made, or when nobody can know any more whether it
 * was. So there is no change without its entry, whenever a process dies; and none for a request that was refused.
 * Errors of every operation: store_unavailable.
 */
export interface AuditLog {
  /** Records that a change is about to be made. Returns its id. */
  begin(change: AuditedChange): Promise<string>;
  /** Records that the change was made, and the ids of what it has created. */
  complete(id: string, createdIds: readonly string[]): Promise<void>;
  /** Forgets a change that was certainly not made. */
  discard(id: string): Promise<void>;
  /**
   * Appends the changes that were made, and those that began two minutes ago. Any number of processes may do this at once.
   * Returns the last entry that any process has appended.
   */
  seal(): Promise<ChainPoint | undefined>;
  /** Returns the entries that are kept, in order; those after a number, if it is given. */
  entries(after?: number): AsyncIterable<AuditEntry>;
  /** Returns the entries of some methods whose requests came at a time or later, in order. Units: Unix ms. */
  readEntries(methods: readonly string[], since: number): AsyncIterable<AuditEntry>;
  /** Checks the chain, also against points of it that somebody has noted before. */
  verify(noted?: readonly ChainPoint[]): Promise<ChainReport>;
  /** Removes the entries before a time. The rest is still checked as the continuation of what was removed. Units: Unix ms. */
  removeOlderThan(time: number): Promise<void>;
}

type EntryDocument = Omit<AuditEntry, 'number'> & { _id: number };
type PendingDocument = AuditedChange & { _id: string; at: Date; isMade: boolean };
/** The last entry that was removed because of its age (`start`), and the last one that was appended (`end`). */
type PointDocument = { _id: 'start' | 'end' } & ChainPoint;

/** Longer than a request may take: the process that has not said by then whether its change was made is taken for dead. */
export const undecidedMs = 120_000;

const batchSize = 100;

const openCollections = (connection: Connection) => ({
  pending: openCollection<PendingDocument>(connection, 'auditPending'),
  chain: openCollection<EntryDocument>(connection, 'auditEntries'),
  points: openCollection<PointDocument>(connection, 'auditPoints'),
});
type Collections = ReturnType<typeof openCollections>;

/** Creates the indexes of the audit log. */
export async function buildAuditIndexes(connection: Connection): Promise<void> {
  const { chain, pending } = openCollections(connection);
  await chain.createIndex({ changeId: 1 });
  await chain.createIndex({ at: 1 });
  await pending.createIndex({ isMade: 1, at: 1 });
}

/** Opens the audit log of a service. Units: `now` in Unix milliseconds, by the clock of the database server. */
export function openAuditLog(
  connection: Connection,
  service: string,
  now: () => number = () => serverTime(connection),
): AuditLog {
  const collections = openCollections(connection);
  const { pending, chain, points } = collections;
  const start = async () => (await points.findOne({ _id: 'start' })) ?? chainStart(service);
  const entries = async function* (filter: mongo.Filter<EntryDocument>): AsyncGenerator<AuditEntry> {
    for await (const { _id, ...entry } of chain.find(filter).sort({ _id: 1 })) yield { number: _id, ...entry };
  };
  const entriesAfter = (number: number) => entries({ _id: { $gt: number } });
  return {
    async begin(change) {
      const _id = randomUUID();
      await storeCall(() => pending.insertOne({ _id, ...change, at: new Date(now()), isMade: false }));
      return _id;
    },
    async complete(id, createdIds) {
      const update = { $set: { isMade: true }, $push: { 'subject.ids': { $each: [...createdIds] } } };
      // An update of an array in an object is not typed by the driver.
      await storeCall(() => pending.updateOne({ _id: id }, update as mongo.UpdateFilter<PendingDocument>));
    },
    async discard(id) {
      await storeCall(() => pending.deleteOne({ _id: id }));
    },
    seal: () => storeCall(() => sealAll(collections, chainStart(service), now)),
    entries: async function* (after = 0) {
      yield* entriesAfter(Math.max(after, (await start()).number));
    },
    readEntries: (methods, since) =>
      entries({ method: { $in: [...methods] }, at: { $gte: new Date(since).toISOString() } }),
    verify: (noted = []) =>
      storeCall(async () => {
        for (;;) {
          // Read first: entries that are appended meanwhile come after it.
          const end = await points.findOne({ _id: 'end' });
          const from = await start();
          const report = await checkChain(from, entriesAfter(from.number), [...(end ? [end] : []), ...noted]);
          // If old entries were removed meanwhile, the check may have missed them.
          if ((await start()).number === from.number) return report;
        }
      }),
    removeOlderThan: (time) => storeCall(() => removeOlderThan(collections, new Date(time).toISOString())),
  };
}

async function sealAll(
  collections: Collections,
  first: ChainPoint,
  now: () => number,
): Promise<ChainPoint | undefined> {
  const { pending, points } = collections;
  for (;;) {
    const undecidedBefore = new Date(now() - undecidedMs);
    const due = await pending
      .find({ $or: [{ isMade: true }, { isMade: false, at: { $lte: undecidedBefore } }] })
      .sort({ at: 1 })
      .limit(batchSize)
      .toArray();
    for (const one of due) {
      await append(collections, first, one);
      await pending.deleteOne({ _id: one._id });
    }
    if (due.length < batchSize) break;
  }
  const end = await points.findOne({ _id: 'end' });
  return end ? { number: end.number, hash: end.hash } : undefined;
}

/**
 * Appends a change. The number of an entry is its `_id`, so of several processes that append at the same point one succeeds,
 * and the others look again. A change that has its entry already gets no second one: an entry that a look has missed was
 * appended after it, and has taken the number.
 */
async function append(
  { chain, points }: Collections,
  first: ChainPoint,
  { _id: changeId, at, isMade, ...change }: PendingDocument,
): Promise<void> {
  for (;;) {
    const end = await findEnd({ chain, points }, first);
    if (await chain.findOne({ changeId }, { projection: { _id: 1 } })) return;
    const outcome = isMade ? 'done' : 'unknown';
    const { number, ...entry } = entryAfter(end, { ...change, changeId, at: at.toISOString(), outcome });
    try {
      await chain.insertOne({ _id: number, ...entry });
    } catch (error) {
      if (isDuplicateKey(error)) continue;
      throw error;
    }
    return advance(points, 'end', { number, hash: entry.hash });
  }
}

/**
 * Returns the point after which the next entry comes. If the last entries were removed from the collection, it is the noted
 * point after them: the gap stays, and a check finds it.
 */
async function findEnd(
  { chain, points }: Pick<Collections, 'chain' | 'points'>,
  first: ChainPoint,
): Promise<ChainPoint> {
  const [last] = await chain
    .find({}, { projection: { hash: 1 } })
    .sort({ _id: -1 })
    .limit(1)
    .toArray();
  const noted = (await points.findOne({ _id: 'end' })) ?? first;
  return last && last._id >= noted.number ? { number: last._id, hash: last.hash } : noted;
}

/** Moves a point forward, never back. */
async function advance(points: Collections['points'], id: PointDocument['_id'], point: ChainPoint): Promise<void> {
  try {
    await retryUpsert(() =>
      points.updateOne({ _id: id, number: { $lt: point.number } }, { $set: point }, { upsert: true }),
    );
  } catch (error) {
    // The point is there already, or further.
    if (!isDuplicateKey(error)) throw error;
  }
}

async function removeOlderThan({ chain, points }: Collections, time: string): Promise<void> {
  // The order of the entries differs a little from the order of their times.
  const [firstKept] = await chain
    .find({ at: { $gte: time } }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(1)
    .toArray();
  const isBefore = firstKept ? { _id: { $lt: firstKept._id } } : {};
  const [lastRemoved] = await chain
    .find(isBefore, { projection: { hash: 1 } })
    .sort({ _id: -1 })
    .limit(1)
    .toArray();
  if (!lastRemoved) return;
  await advance(points, 'start', { number: lastRemoved._id, hash: lastRemoved.hash });
  await chain.deleteMany({ _id: { $lte: lastRemoved._id } });
}
