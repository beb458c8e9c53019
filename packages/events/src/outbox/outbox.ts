import { backOffMs } from '@ticketing/runtime/back-off.ts';
import type { Collection, mongo } from 'mongoose';
import type { OutgoingMessage } from '../bus/bus.ts';

/** The fields of a document that hold its outbox: events that were written in the same update as the change itself. */
export interface OutboxFields<Event extends { version: number }> {
  /** Increases by one with every event. */
  version: number;
  /** Events that the relay has not sent yet, in the order of their versions. */
  outbox: Event[];
  /** When the oldest of them was added; absent if there are none. */
  outboxSince?: Date;
  /** Set while the bus refuses the events. */
  unsent?: Unsent;
}

/** Why the events of a document cannot be sent, although the bus is available, and when the relay tries again. */
export interface Unsent {
  reason: string;
  since: Date;
  retryAt: Date;
  attempts: number;
}

/** Returns the part of an update that adds an event to the outbox. */
export function outboxPush<Event>(event: Event): { $push: { outbox: Event }; $min: { outboxSince: Date } } {
  return { $push: { outbox: event }, $min: { outboxSince: new Date() } };
}

/** Returns the outbox fields of a new document with its first events. */
export function firstInOutbox<Event>(...events: Event[]): { outbox: Event[]; outboxSince: Date } {
  return { outbox: events, outboxSince: new Date() };
}

/** The index by which a relay finds unsent events, the oldest first. */
export const outboxIndex = {
  index: { outboxSince: 1 },
  options: { partialFilterExpression: { outboxSince: { $exists: true } } },
  reason: 'events that have not been sent yet',
} as const;

/** The unsent events of a document. */
export interface Pending {
  id: number;
  messages: readonly OutgoingMessage[];
  /** The error if the events cannot be turned into messages. */
  unwritable: Error | undefined;
  lastVersion: number;
  unsent: Unsent | undefined;
}

/** The outboxes of all documents of a collection. */
export interface Outbox {
  name: string;
  collection: Collection;
  topic: string;
  /** Returns the unsent events of up to `limit` documents in the given ranges of ids, the oldest events first. */
  pending(ranges: readonly number[], limit: number): Promise<Pending[]>;
  /** Removes events that were sent. Events that were added meanwhile stay. */
  remove(sent: readonly Pending[]): Promise<void>;
  /** Postpones a document whose events cannot be sent, longer after each attempt. */
  postpone(pending: Pending, reason: string): Promise<void>;
  /** Returns the documents whose events cannot be sent. */
  undeliverable(limit: number): Promise<{ id: number; unsent: Unsent }[]>;
  /** Makes the relay try them again at once. */
  retryUndeliverable(): Promise<void>;
  state(): Promise<OutboxState>;
}

/** The unsent events in the outboxes of a collection. Units: Unix milliseconds. */
export interface OutboxState {
  events: number;
  oldestAt: number | undefined;
  /** Documents whose events cannot be sent. */
  undeliverable: number;
}

/** Whether any outbox of a database has unsent events, found by one operation on the database. */
export async function anyHasUnsentEvents([first, ...others]: readonly Outbox[]): Promise<boolean> {
  if (!first) return false;
  const oneWaiting = [{ $match: { outboxSince: { $exists: true } } }, { $limit: 1 }, { $project: { _id: 1 } }];
  const unions = others.map(({ collection }) => ({ $unionWith: { coll: collection.name, pipeline: oneWaiting } }));
  const found = await first.collection.aggregate([...oneWaiting, ...unions]).toArray();
  return found.length > 0;
}

/** How many ranges of ids the relays of a service share. */
export const rangeCount = 16;

const maxEventsOfOne = 200;
/**
 * A round of 500 documents is removed by four concurrent writes; a single one would use only one core of the server.
 */
const removalsPerWrite = 125;
const shortestRetryMs = 5_000;
const longestRetryMs = 5 * 60_000;

type OutboxDocument<Event extends { version: number }> = OutboxFields<Event> & { _id: number };
type AnyOutboxDocument = OutboxDocument<{ version: number }>;
type Documents = mongo.Collection<AnyOutboxDocument>;
type Write = mongo.AnyBulkWriteOperation<AnyOutboxDocument>;

const hasEvents = { outboxSince: { $exists: true } };
const isUndeliverable = { ...hasEvents, unsent: { $exists: true } };

/** Opens the outboxes of a collection; `toMessage` makes the message of an event of a document. */
export function openOutbox<Event extends { version: number }>(
  given: Collection,
  options: { name: string; topic: string; toMessage(id: number, event: Event): OutgoingMessage },
): Outbox {
  const collection = given as unknown as mongo.Collection<OutboxDocument<Event>>;
  const documents = given as unknown as Documents;
  return {
    name: options.name,
    collection: given,
    topic: options.topic,
    async pending(ranges, limit) {
      const isInRanges =
        ranges.length === rangeCount ? {} : { $or: ranges.map((range) => ({ _id: { $mod: [rangeCount, range] } })) };
      const isDue = { 'unsent.retryAt': { $not: { $gt: new Date() } } };
      const found = await collection
        .find({ ...hasEvents, ...isDue, ...isInRanges } as never)
        .project<OutboxDocument<Event>>({ version: 1, outbox: { $slice: maxEventsOfOne }, outboxSince: 1, unsent: 1 })
        .sort({ outboxSince: 1 })
        .limit(limit)
        .toArray();
      return found.map((document) => toPending(document, options.toMessage));
    },
    remove: (sent) => removeSent(documents, sent),
    async postpone({ id, unsent }, reason) {
      await documents.updateOne({ _id: id, ...hasEvents }, { $set: { unsent: unsentAgain(unsent, reason) } });
    },
    async undeliverable(limit) {
      const found = await documents.find(isUndeliverable, { projection: { unsent: 1 }, limit }).toArray();
      return found.flatMap(({ _id, unsent }) => (unsent ? [{ id: _id, unsent }] : []));
    },
    async retryUndeliverable() {
      await documents.updateMany(isUndeliverable, { $set: { 'unsent.retryAt': new Date(0) } });
    },
    state: () => readState(documents),
  };
}

function toPending<Event extends { version: number }>(
  document: OutboxDocument<Event>,
  toMessage: (id: number, event: Event) => OutgoingMessage,
): Pending {
  const events = document.outbox.toSorted((left, right) => left.version - right.version);
  const lastVersion = events.at(-1)?.version ?? document.version;
  let messages: OutgoingMessage[] = [];
  let unwritable: Error | undefined;
  try {
    messages = events.map((event) => toMessage(document._id, event));
  } catch (error) {
    unwritable = error instanceof Error ? error : new Error(String(error));
  }
  return { id: document._id, messages, unwritable, lastVersion, unsent: document.unsent };
}

/** Documents of the same version are updated together, which costs the server a third. */
async function removeSent(documents: Documents, sent: readonly Pending[]): Promise<void> {
  const groups = [...Map.groupBy(sent, ({ lastVersion }) => lastVersion)].flatMap(([lastVersion, some]) =>
    partsOf(some, removalsPerWrite).map((part) => ({ lastVersion, ids: part.map(({ id }) => id) })),
  );
  const empty = groups.map(
    ({ lastVersion, ids }): Write => ({
      updateMany: {
        filter: { _id: { $in: ids }, version: lastVersion },
        update: { $set: { outbox: [] }, $unset: { outboxSince: 1, unsent: 1 } },
      },
    }),
  );
  const writeCount = Math.ceil(sent.length / removalsPerWrite);
  const parts = partsOf(empty, Math.ceil(empty.length / writeCount));
  const results = await Promise.all(parts.map((part) => documents.bulkWrite(part, { ordered: false })));
  const matched = results.reduce((sum, { matchedCount }) => sum + matchedCount, 0);
  if (matched === sent.length) return;
  // Newer events stay in the outbox: they were added meanwhile, or there were too many to read.
  const shorten = groups.map(
    ({ lastVersion, ids }): Write => ({
      updateMany: {
        filter: { _id: { $in: ids }, version: { $gt: lastVersion } },
        update: { $pull: { outbox: { version: { $lte: lastVersion } } }, $unset: { unsent: 1 } },
      },
    }),
  );
  await documents.bulkWrite(shorten, { ordered: false });
}

function partsOf<Item>(items: readonly Item[], length: number): Item[][] {
  const count = Math.ceil(items.length / length);
  return Array.from({ length: count }, (_, part) => items.slice(part * length, (part + 1) * length));
}

/** Returns the state of a document after one more failed attempt; each wait is twice as long as the one before. */
function unsentAgain(before: Unsent | undefined, reason: string): Unsent {
  const attempts = (before?.attempts ?? 0) + 1;
  const waitMs = backOffMs(attempts - 1, { firstMs: shortestRetryMs, longestMs: longestRetryMs });
  return { reason, since: before?.since ?? new Date(), retryAt: new Date(Date.now() + waitMs), attempts };
}

async function readState(documents: Documents): Promise<OutboxState> {
  const [sum] = await documents
    .aggregate<{ events: number; oldestAt: Date; undeliverable: number }>([
      { $match: hasEvents },
      { $project: { count: { $size: '$outbox' }, outboxSince: 1, unsent: 1 } },
      {
        $group: {
          _id: null,
          events: { $sum: '$count' },
          oldestAt: { $min: '$outboxSince' },
          undeliverable: { $sum: { $cond: [{ $ifNull: ['$unsent', false] }, 1, 0] } },
        },
      },
    ])
    .toArray();
  return {
    events: sum?.events ?? 0,
    oldestAt: sum?.oldestAt.getTime(),
    undeliverable: sum?.undeliverable ?? 0,
  };
}
