import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { duplicatesIn, retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import type { ErasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type Claimed, type Lease, type Leased, openLeases } from '@ticketing/store/leases/lease.ts';
import { type Connection, mongo } from 'mongoose';
import type { LabelChange, LabelledFeatures, TagLabels } from './rules/label.ts';

/** A ticket that only this process reads, until its lease expires. */
export interface ClaimedTicket {
  ticketId: number;
  tags: TagLabels | null;
  attempts: number;
  claim: Claimed<number>;
  /** The state when it was claimed. */
  revision: number;
  stored: StoredExample | null;
}

/** A claimed ticket, and its example; null: nothing is learned from it. */
export interface ReadTicket {
  claimed: ClaimedTicket;
  example: LabelledFeatures | null;
}

/** The numbers of examples, of tickets that wait to be read, and of tickets that are not read any more. */
export interface ExampleCounts {
  examples: number;
  queued: number;
  givenUp: number;
}

/**
 * The tickets that somebody has labelled: first a queue of those to read, then examples to learn from.
 * Errors of every operation: store_unavailable.
 */
export interface ExampleStore {
  /** Records changes of labels; their tickets are read, or read again. Older tags than the recorded ones are left out. */
  record(changes: readonly LabelChange[]): Promise<void>;
  /** Claims the tickets that have been due for the longest time, all with one owner. */
  claim(limit: number): Promise<ClaimedTicket[]>;
  /**
   * Stores the examples of tickets that were claimed together. If more was recorded of a ticket meanwhile, it is read once
   * more.
   */
  keep(read: readonly ReadTicket[]): Promise<void>;
  /** Releases a ticket to be read later; without a delay, not until something is recorded. */
  retry(claimed: ClaimedTicket, retry: { error: string; delayMs: number | null; counts: boolean }): Promise<void>;
  /** Reads all tickets again whose examples have another format. */
  readAgain(): Promise<void>;
  erase(ticketIds: readonly number[]): Promise<void>;
  /** Removes deleted tags from all examples. */
  dropTags(tagIds: readonly number[]): Promise<void>;
  counts(): Promise<ExampleCounts>;
  /** Whether there are at least `count` examples. */
  areThere(count: number): Promise<boolean>;
  /** Counts the examples that have changed since a time, up to `limit`. Units: Unix ms. */
  changedSince(time: number, limit: number): Promise<number>;
  /** Returns the examples that have changed last, in batches. */
  newest(limit: number): AsyncIterable<LabelledFeatures[]>;
}

const leaseMs = 30_000;
const batchSize = 200;
/** A clock that is read before a write is behind the moment of the write. */
const toleranceMs = 5_000;

/** The inputs of the store of examples. */
export interface ExampleStoreOptions {
  /** The format of the features that this program makes. */
  format: number;
  /** Called after examples were wiped, and before their documents are deleted. */
  noteErasure(): Promise<void>;
  /** The ids of deleted tickets and tags. */
  deleted: Readonly<Record<'tickets' | 'tags', Pick<ErasedIds, 'among'>>>;
}

/** Opens the examples on a connection. Deleted tickets and tags that a write names are dropped after it. */
export function exampleStore(connection: Connection, options: ExampleStoreOptions): ExampleStore {
  const examples = exampleCollection(connection);
  const at = (delayMs = 0) => new Date(serverTime(connection) + delayMs);
  const parts = { connection, examples, at, ...options };
  const removals = openRemovals(parts);
  return { ...openQueue(parts, removals), ...removals, ...openReads(parts) };
}

interface Parts extends ExampleStoreOptions {
  connection: Connection;
  examples: mongo.Collection<ExampleDocument>;
  at(delayMs?: number): Date;
}

type Removals = Pick<ExampleStore, 'erase' | 'dropTags'>;

function openQueue(
  { connection, examples, at, format, deleted }: Parts,
  { erase, dropTags }: Removals,
): Pick<ExampleStore, 'record' | 'claim' | 'keep' | 'retry' | 'readAgain'> {
  const leases = openLeases<ExampleDocument>(examples, { connection, durationMs: leaseMs });
  return {
    async record(changes) {
      if (changes.length === 0) return;
      await storeCall(() => record(examples, changes, at()));
      // The erasure of a ticket that was deleted meanwhile has not seen these changes.
      await erase([...(await deleted.tickets.among(changes.map(({ ticketId }) => ticketId)))]);
    },
    claim: (limit) =>
      storeCall(async () => {
        const isDue = { dueAt: { $lte: at() } };
        const claimed = await leases.claimSome(isDue, { sort: { dueAt: 1 }, limit }, ({ revision }) => ({
          isUnchanged: { revision },
          increment: { attempts: 1 },
        }));
        return claimed.map(toClaimed);
      }),
    async keep(read) {
      const [first] = read;
      if (!first) return;
      await storeCall(async () => {
        const writes = read.map(({ claimed, example }) => {
          const next = example && toStored(example, format);
          const change = isSame(claimed.stored, next) ? {} : { example: next, changedAt: at() };
          const done = { ...change, dueAt: null, attempts: 0, lastError: null, lease: null };
          const isUnchanged = { ...leases.isHeld(claimed.claim), revision: claimed.revision };
          return { updateOne: { filter: isUnchanged, update: { $set: done } } };
        });
        const { matchedCount } = await examples.bulkWrite(writes, { ordered: false });
        if (matchedCount === read.length) return;
        // Something was recorded of the others meanwhile: they are due again.
        const ids = read.map(({ claimed }) => claimed.ticketId);
        const areHeld = { _id: { $in: ids }, 'lease.owner': first.claimed.claim.owner };
        await examples.updateMany(areHeld, { $set: { lease: null } });
      });
      // The deletion of a tag that was deleted meanwhile has not seen these examples.
      const tagIds = new Set(read.flatMap(({ example }) => example?.tagIds ?? []));
      await dropTags([...(await deleted.tags.among([...tagIds]))]);
    },
    retry: ({ claim, attempts }, { error, delayMs, counts }) =>
      storeCall(async () => {
        const dueAt = delayMs === null ? null : at(delayMs);
        await leases.release(claim, { dueAt, lastError: error, ...(counts ? {} : { attempts: attempts - 1 }) });
      }),
    readAgain: () =>
      storeCall(async () => {
        const isOutdated = { dueAt: null, 'example.format': { $exists: true, $ne: format } };
        await examples.updateMany(isOutdated, { $set: { dueAt: at(), attempts: 0 }, $inc: { revision: 1 } });
      }),
  };
}

function toClaimed(document: ExampleDocument & { lease: Lease }): ClaimedTicket {
  const { _id: ticketId, tags, attempts, revision, example: stored, lease } = document;
  const claim = { id: ticketId, owner: lease.owner };
  return { ticketId, tags: tags.version === 0 ? null : tags, attempts, claim, revision, stored };
}

function openRemovals({ examples, at, noteErasure }: Parts): Removals {
  return {
    erase: async (ticketIds) => {
      if (ticketIds.length === 0) return;
      await storeCall(async () => {
        const isErased = { _id: { $in: [...ticketIds] } };
        const wipe = { $set: { example: null, dueAt: null }, $inc: { revision: 1 } };
        // In this order, a process that dies in between leaves documents that the next attempt finds.
        if ((await examples.updateMany(isErased, wipe)).matchedCount === 0) return;
        await noteErasure();
        await examples.deleteMany(isErased);
      });
    },
    dropTags: async (tagIds) => {
      if (tagIds.length === 0) return;
      await storeCall(async () => {
        const named = { $in: [...tagIds] };
        await examples.updateMany(
          { 'example.tagIds': named },
          { $pull: { 'example.tagIds': named }, $set: { changedAt: at() }, $inc: { revision: 1 } },
        );
      });
    },
  };
}

function openReads({ examples, format }: Parts): Pick<ExampleStore, 'counts' | 'areThere' | 'changedSince' | 'newest'> {
  const isLearned = { 'example.format': format };
  return {
    counts: () =>
      storeCall(async () => {
        const [learned, queued, givenUp] = await Promise.all([
          examples.countDocuments(isLearned),
          examples.countDocuments({ dueAt: { $ne: null } }),
          examples.countDocuments({ dueAt: null, lastError: { $ne: null } }),
        ]);
        return { examples: learned, queued, givenUp };
      }),
    areThere: (count) => storeCall(async () => (await examples.countDocuments(isLearned, { limit: count })) === count),
    changedSince: (time, limit) =>
      storeCall(() => examples.countDocuments({ changedAt: { $gte: new Date(time - toleranceMs) } }, { limit })),
    newest: (limit) => newest(examples, isLearned, limit),
  };
}

const unlabelled = {
  tags: { version: 0, tagIds: [], byPerson: false },
  revision: 0,
  ...{ dueAt: null, attempts: 0, lastError: null, example: null, changedAt: null, lease: null },
};

async function record(
  examples: mongo.Collection<ExampleDocument>,
  changes: readonly LabelChange[],
  now: Date,
): Promise<void> {
  // To insert the document of a new ticket costs the server a fraction of an upsert.
  const isNew = ({ tags }: LabelChange) => tags?.version === 1;
  const there = await insertNew(examples, changes.filter(isNew), now);
  const writes = [...there, ...changes.filter((change) => !isNew(change))].flatMap((change) => toWrites(change, now));
  if (writes.length > 0) await retryUpsert(() => examples.bulkWrite(writes));
}

/** Inserts the documents of new tickets. Returns the changes of those that have one already. */
async function insertNew(
  examples: mongo.Collection<ExampleDocument>,
  created: readonly LabelChange[],
  now: Date,
): Promise<LabelChange[]> {
  if (created.length === 0) return [];
  const documents = created.map(({ ticketId: _id, tags = unlabelled.tags }) => ({
    ...{ ...unlabelled, _id, revision: 1, dueAt: now },
    tags: { ...tags, tagIds: [...tags.tagIds] },
  }));
  try {
    await examples.insertMany(documents, { ordered: false });
    return [];
  } catch (error) {
    const duplicates = duplicatesIn(error);
    if (!duplicates) throw error;
    return duplicates.flatMap((index) => created[index] ?? []);
  }
}

function toWrites(
  { ticketId: _id, tags, spam }: LabelChange,
  now: Date,
): mongo.AnyBulkWriteOperation<ExampleDocument>[] {
  const due = { dueAt: now, attempts: 0 };
  const again = { $inc: { revision: 1 } };
  // A change of the text concerns only tickets that were labelled before.
  if (!tags && !spam) return [{ updateOne: { filter: { _id }, update: { $set: due, ...again } } }];
  const exists = { updateOne: { filter: { _id }, update: { $setOnInsert: unlabelled }, upsert: true } };
  const filter = tags ? { _id, 'tags.version': { $lt: tags.version } } : { _id };
  const set = tags ? { ...due, tags: { ...tags, tagIds: [...tags.tagIds] } } : due;
  const writesOfOne = [exists, { updateOne: { filter, update: { $set: set, ...again } } }];
  return tags && spam
    ? [...writesOfOne, { updateOne: { filter: { _id }, update: { $set: due, ...again } } }]
    : writesOfOne;
}

async function* newest(
  examples: mongo.Collection<ExampleDocument>,
  isLearned: mongo.Filter<ExampleDocument>,
  limit: number,
): AsyncGenerator<LabelledFeatures[]> {
  const cursor = examples
    .find(isLearned, { projection: { example: 1 } })
    .sort({ changedAt: -1 })
    .limit(limit)
    .batchSize(batchSize);
  try {
    while (await storeCall(() => cursor.hasNext())) {
      yield cursor.readBufferedDocuments().flatMap(({ example }) => (example ? [fromStored(example)] : []));
    }
  } finally {
    await cursor.close();
  }
}

function toStored({ features, tagIds, isSpam }: LabelledFeatures, format: number): StoredExample {
  return { format, features: new mongo.Binary(features), tagIds: tagIds && [...tagIds], isSpam };
}

function fromStored({ features, tagIds, isSpam }: StoredExample): LabelledFeatures {
  return { features: features.value(), tagIds, isSpam };
}

function isSame(before: StoredExample | null, after: StoredExample | null): boolean {
  if (!before || !after) return before === after;
  const labels = ({ format, tagIds, isSpam }: StoredExample) => JSON.stringify([format, tagIds, isSpam]);
  return (
    labels(before) === labels(after) && Buffer.compare(fromStored(before).features, fromStored(after).features) === 0
  );
}

/** The tags that somebody has set; `version` 0: nobody has. */
export interface StoredTags {
  version: number;
  tagIds: number[];
  byPerson: boolean;
}

/** A training example from a ticket. */
export interface StoredExample {
  /** The version of the format of models and features. */
  format: number;
  features: mongo.Binary;
  /** Null: nobody has set any. */
  tagIds: number[] | null;
  isSpam: boolean | null;
}

/** A ticket that somebody has labelled. */
export interface ExampleDocument extends Leased<number> {
  tags: StoredTags;
  /** Rises with everything that is recorded of the ticket. */
  revision: number;
  /** The time at which the ticket is to be read; null: not again, until something is recorded. */
  dueAt: Date | null;
  attempts: number;
  lastError: string | null;
  example: StoredExample | null;
  /** The time of the last change of `example`. */
  changedAt: Date | null;
}

/** Opens the collection of a connection. */
function exampleCollection(connection: Connection): mongo.Collection<ExampleDocument> {
  return openCollection<ExampleDocument>(connection, 'examples');
}

/** Builds the missing indexes of the examples. */
export async function buildExampleIndexes(connection: Connection): Promise<void> {
  const examples = exampleCollection(connection);
  await examples.createIndex({ dueAt: 1 });
  await examples.createIndex({ changedAt: 1 });
  await examples.createIndex({ 'example.format': 1, changedAt: -1 });
  await examples.createIndex({ lastError: 1 });
  await examples.createIndex({ 'example.tagIds': 1 });
}
