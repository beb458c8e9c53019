import type { Collection, mongo } from 'mongoose';
import type { OutgoingMessage } from '../bus/bus.ts';

/** What the outbox of a document is kept in, beside what else the document holds. */
export interface OutboxFields<Event extends { version: number }> {
  /** Rises by one with every event. */
  version: number;
  /** Events that the relay has not sent yet, in the order of their versions. */
  outbox: Event[];
  /** Since when there are such events; absent without. */
  outboxSince?: Date;
  /** Why they could not be sent. */
  unsent?: Unsent;
}

/** A document whose events can not be sent, though the bus is there. */
export interface Unsent {
  reason: string;
  since: Date;
  retryAt: Date;
  attempts: number;
}

/** The part of an update that puts an event into the outbox. */
export function outboxPush<Event>(event: Event): { $push: { outbox: Event }; $min: { outboxSince: Date } } {
  return { $push: { outbox: event }, $min: { outboxSince: new Date() } };
}

/** The fields of a new document with its first event. */
export function firstInOutbox<Event>(event: Event): { outbox: Event[]; outboxSince: Date } {
  return { outbox: [event], outboxSince: new Date() };
}

/** The index by which a relay finds what is to be sent, the longest waiting first. */
export const outboxIndex = {
  index: { outboxSince: 1 },
  options: { partialFilterExpression: { outboxSince: { $exists: true } } },
  reason: 'events that are not sent yet',
} as const;

/** The events of a document that are to be sent. */
export interface Pending {
  id: number;
  messages: readonly OutgoingMessage[];
  /** Why they can not even be written as messages. */
  unwritable: Error | undefined;
  lastVersion: number;
  /** Whether the document held no others when it was read. */
  isAll: boolean;
  unsent: Unsent | undefined;
}

/** The outboxes of the documents of a collection. */
export interface Outbox {
  name: string;
  collection: Collection;
  topic: string;
  /** The events of some documents, those that wait longest first. */
  pending(ranges: readonly number[], limit: number): Promise<Pending[]>;
  /** Takes out what was sent. What was put in meanwhile stays. */
  remove(sent: readonly Pending[]): Promise<void>;
  /** Lets a document wait whose events can not be sent. */
  postpone(pending: Pending, reason: string): Promise<void>;
  /** The documents whose events can not be sent. */
  undeliverable(limit: number): Promise<{ id: number; unsent: Unsent }[]>;
  /** Lets those be tried again at once. */
  retryUndeliverable(): Promise<void>;
  /** How many events wait, since when the oldest does, and how many documents can not be sent. */
  state(): Promise<OutboxState>;
}

/** What waits in an outbox. Units: Unix milliseconds. */
export interface OutboxState {
  events: number;
  oldestAt: number | undefined;
  undeliverable: number;
}

/** Whether any outbox of a database has something to send: one operation for all of them. */
export async function isAnyWaiting([first, ...others]: readonly Outbox[]): Promise<boolean> {
  if (!first) return false;
  const oneWaiting = [{ $match: { outboxSince: { $exists: true } } }, { $limit: 1 }, { $project: { _id: 1 } }];
  const unions = others.map(({ collection }) => ({ $unionWith: { coll: collection.name, pipeline: oneWaiting } }));
  const found = await first.collection.aggregate([...oneWaiting, ...unions]).toArray();
  return found.length > 0;
}

/** How many ranges of ids the relays of a service share. */
export const rangeCount = 16;

const maxEventsOfOne = 200;
/** A relay's 500 are removed by four writes at a time: one alone would keep one core busy and the others idle. */
const removalsPerWrite = 125;
const shortestRetryMs = 5_000;
const longestRetryMs = 5 * 60_000;

/** Opens the outboxes of a collection; `toMessage` writes an event of a document. */
export function openOutbox<Event extends { version: number }>(
  given: Collection,
  options: { name: string; topic: string; toMessage(id: number, event: Event): OutgoingMessage },
): Outbox {
  type Document = OutboxFields<Event> & { _id: number };
  const collection = given as unknown as mongo.Collection<Document>;
  const isWaiting = { outboxSince: { $exists: true } };

  function pendingOf(document: Document): Pending {
    const events = document.outbox.toSorted((left, right) => left.version - right.version);
    const lastVersion = events.at(-1)?.version ?? document.version;
    let messages: OutgoingMessage[] = [];
    let unwritable: Error | undefined;
    try {
      messages = events.map((event) => options.toMessage(document._id, event));
    } catch (error) {
      unwritable = error instanceof Error ? error : new Error(String(error));
    }
    const isAll = lastVersion === document.version;
    return { id: document._id, messages, unwritable, lastVersion, isAll, unsent: document.unsent };
  }

  return {
    name: options.name,
    collection: given,
    topic: options.topic,
    async pending(ranges, limit) {
      const isMine =
        ranges.length === rangeCount ? {} : { $or: ranges.map((range) => ({ _id: { $mod: [rangeCount, range] } })) };
      const isDue = { 'unsent.retryAt': { $not: { $gt: new Date() } } };
      const found = await collection
        .find({ ...isWaiting, ...isDue, ...isMine } as never)
        .project<Document>({ version: 1, outbox: { $slice: maxEventsOfOne }, outboxSince: 1, unsent: 1 })
        .sort({ outboxSince: 1 })
        .limit(limit)
        .toArray();
      return found.map(pendingOf);
    },
    async remove(sent) {
      const emptied = sent.map(({ id, lastVersion }) => ({
        updateOne: {
          filter: { _id: id, version: lastVersion },
          update: { $set: { outbox: [] }, $unset: { outboxSince: 1, unsent: 1 } },
        },
      }));
      const parts = Array.from({ length: Math.ceil(emptied.length / removalsPerWrite) }, (_, part) =>
        emptied.slice(part * removalsPerWrite, (part + 1) * removalsPerWrite),
      );
      const results = await Promise.all(parts.map((part) => collection.bulkWrite(part as never, { ordered: false })));
      if (results.reduce((sum, { matchedCount }) => sum + matchedCount, 0) === sent.length) return;
      // Others were put in meanwhile, or not all were read: only what was sent goes.
      const shortened = sent.map(({ id, lastVersion }) => ({
        updateOne: {
          filter: { _id: id, version: { $gt: lastVersion } },
          update: { $pull: { outbox: { version: { $lte: lastVersion } } }, $unset: { unsent: 1 } },
        },
      }));
      await collection.bulkWrite(shortened as never, { ordered: false });
    },
    async postpone({ id, unsent }, reason) {
      const attempts = (unsent?.attempts ?? 0) + 1;
      const waitMs = Math.min(longestRetryMs, shortestRetryMs * 2 ** Math.min(attempts - 1, 10));
      const next: Unsent = {
        reason,
        since: unsent?.since ?? new Date(),
        retryAt: new Date(Date.now() + waitMs),
        attempts,
      };
      await collection.updateOne({ _id: id, ...isWaiting } as never, { $set: { unsent: next } } as never);
    },
    async undeliverable(limit) {
      const found = await collection
        .find({ ...isWaiting, unsent: { $exists: true } } as never, { projection: { unsent: 1 }, limit })
        .toArray();
      return found.flatMap(({ _id, unsent }) => (unsent ? [{ id: _id, unsent }] : []));
    },
    async retryUndeliverable() {
      const waiting = { ...isWaiting, unsent: { $exists: true } };
      await collection.updateMany(waiting as never, { $set: { 'unsent.retryAt': new Date(0) } } as never);
    },
    async state() {
      const [sum] = await collection
        .aggregate<{ events: number; oldestAt: Date; undeliverable: number }>([
          { $match: isWaiting },
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
    },
  };
}
