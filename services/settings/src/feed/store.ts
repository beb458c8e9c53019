import { toBinary } from '@bufbuild/protobuf';
import {
  type TicketChanged,
  TicketChangedSchema,
  type TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { isDuplicateKey, isWriteConflict, retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import mongoose from 'mongoose';
import { eraseEvents } from './erasure-store.ts';
import { parseEvent } from './rules/event.ts';

/** An event in the feed of changes. */
export interface StoredEvent {
  /** Its position in the feed: consecutive numbers from 1, in the order in which the events became visible. */
  position: number;
  receivedAt: Date;
  event: TicketChanged;
}

/** Which events are read. */
export interface EventFilter {
  /** Empty for all types. */
  types: readonly TicketChangeType[];
  ticketId?: number | undefined;
}

/** The positions that readers may read, both included. */
export interface FeedBounds {
  first: number;
  last: number;
}

/** The events of the last 30 days. Errors of every operation: store_unavailable. */
export interface EventStore {
  /**
   * Appends events in their order, and returns them with their positions. An event that is stored already keeps its
   * position. A reader who sees a position sees all earlier positions too, even if other processes append or are killed
   * at the same time.
   */
  append(events: readonly TicketChanged[]): Promise<StoredEvent[]>;
  /** Returns the first matching events after one position and up to another, in their order. */
  between(after: number, upTo: number, filter: EventFilter, limit: number): Promise<StoredEvent[]>;
  /**
   * Returns the first and the last position that readers may read; undefined if there was never an event. All of them
   * outlive a crash of the database, so a position that a reader has seen never gets another event.
   */
  bounds(): Promise<FeedBounds | undefined>;
  /** Whether an event is stored at a position, even if readers may not read it yet. */
  has(position: number): Promise<boolean>;
  /** Returns the first position of an event that was received at or after a time; undefined if there is none. */
  firstSince(time: Date): Promise<number | undefined>;
  /** Wipes the old and new values in the events of tickets, except those of enums and times. */
  erase(ticketIds: readonly number[]): Promise<void>;
  /** Removes events that were received before a time. The last event stays, because the next position follows from it. */
  removeOlderThan(time: Date): Promise<void>;
  /**
   * Restarts the feed `gap` positions later: the last event gets a new position there, and all others are removed. A
   * reader whose position may name another event now gets cursor_expired. Call it only while nothing is appended, and
   * on a copy of the feed that can be thrown away if this is interrupted.
   */
  restart(gap: number): Promise<void>;
}

interface EventDocument {
  _id: number;
  eventId: string;
  ticketId: number;
  type: TicketChangeType;
  receivedAt: Date;
  event: mongo.Binary;
}

/** The one document that says which positions readers may read. */
interface FeedDocument {
  _id: typeof feedId;
  first?: number;
  last?: number;
  /** How often the journal was flushed for events that another process had inserted. */
  flushes?: number;
}

const feedId = 'feed';
/** The events are delivered again. */
const tooOften = () =>
  new DomainError('unavailable', 'concurrent_change', 'Others append to the feed at the same time too often.');
const { Binary } = mongoose.mongo;

const eventCollection = (connection: Connection) => openCollection<EventDocument>(connection, 'events');

/** Builds the missing indexes of the feed. */
export async function buildEventIndexes(connection: Connection): Promise<void> {
  const events = eventCollection(connection);
  await events.createIndex({ eventId: 1 }, { unique: true });
  await events.createIndex({ ticketId: 1, _id: 1 });
  // The position makes it possible to find the first event since a time without reading the events after it.
  await events.createIndex({ receivedAt: 1, _id: 1 });
}

/**
 * Opens the feed on a connection. `onAppended` is called when this process has appended events that readers may read.
 *
 * Source: docs/reference/api.md, Feed of changes.
 */
export function eventStore(
  connection: Connection,
  runtime: Pick<Runtime, 'now' | 'random'>,
  onAppended: () => void = () => undefined,
): EventStore {
  const events = eventCollection(connection);
  const readable = readablePositions(connection);
  const queue = keyedQueue<'append'>();

  async function newest(): Promise<Pick<EventDocument, '_id' | 'receivedAt'> | undefined> {
    const projection = { _id: 1, receivedAt: 1 };
    const [last] = await events.find({}, { projection }).sort({ _id: -1 }).limit(1).toArray();
    return last;
  }

  /**
   * Inserts events at the end. Returns undefined if another process has inserted first, or has stored the same event:
   * then only the first events of the list may have been inserted. Times never go backwards along the feed, so that old
   * events are removed from its beginning only, even if the clocks of processes differ.
   */
  async function insertAtEnd(missing: readonly TicketChanged[]): Promise<EventDocument[] | undefined> {
    const end = await newest();
    const receivedAt = new Date(Math.max(runtime.now(), end?.receivedAt.getTime() ?? 0));
    const first = (end?._id ?? 0) + 1;
    const documents = missing.map((event, index) => toDocument(first + index, event, receivedAt));
    try {
      await events.insertMany(documents);
      return documents;
    } catch (error) {
      if (isDuplicateKey(error) || isWriteConflict(error)) return undefined;
      throw error;
    }
  }

  async function attemptAppend(added: readonly TicketChanged[]): Promise<StoredEvent[] | typeof conflict> {
    const byId = new Map(added.map((event) => [event.eventId, event]));
    if (byId.size === 0) return [];
    const stored = await events.find({ eventId: { $in: [...byId.keys()] } }).toArray();
    const known = new Set(stored.map(({ eventId }) => eventId));
    const missing = [...byId.values()].filter(({ eventId }) => !known.has(eventId));
    const inserted = missing.length === 0 ? [] : await insertAtEnd(missing);
    if (!inserted) return conflict;
    const all = [...stored, ...inserted].sort((left, right) => left._id - right._id);
    await readable.extendTo(all.at(-1)?._id ?? 0, { isFlushed: inserted.length > 0 });
    onAppended();
    return all.map(fromDocument);
  }

  async function removeOlderThan(time: Date): Promise<void> {
    const [kept] = await events
      .find({ receivedAt: { $gte: time } }, { projection: { _id: 1 } })
      .sort({ receivedAt: 1, _id: 1 })
      .limit(1)
      .toArray();
    const first = kept?._id ?? (await newest())?._id;
    if (first === undefined) return;
    // Readers must see the new start before the first event is removed.
    await readable.beginAt(first);
    await events.deleteMany({ _id: { $lt: first } });
  }

  async function restart(gap: number): Promise<void> {
    const [last] = await events.find().sort({ _id: -1 }).limit(1).toArray();
    if (!last) return;
    const position = last._id + gap;
    await readable.extendTo(position, { isFlushed: true });
    await readable.beginAt(position);
    await events.deleteMany({});
    await events.insertOne({ ...last, _id: position });
  }

  return {
    restart: (gap) => storeCall(() => restart(gap)),
    append: (added) =>
      queue.run('append', () => storeCall(() => retryOnConflict(runtime, tooOften, () => attemptAppend(added)))),
    between: (after, upTo, filter, limit) =>
      storeCall(async () => {
        const query: mongo.Filter<EventDocument> = { _id: { $gt: after, $lte: upTo } };
        if (filter.types.length > 0) query.type = { $in: [...filter.types] };
        if (filter.ticketId !== undefined) query.ticketId = filter.ticketId;
        const options = { projection: { event: 1, receivedAt: 1 }, batchSize: limit };
        return (await events.find(query, options).sort({ _id: 1 }).limit(limit).toArray()).map(fromDocument);
      }),
    bounds: () => storeCall(readable.read),
    has: (position) => storeCall(async () => (await events.countDocuments({ _id: position }, { limit: 1 })) === 1),
    firstSince: (time) =>
      storeCall(async () => {
        const query = { receivedAt: { $gte: time } };
        const [first] = await events.find(query).sort({ receivedAt: 1, _id: 1 }).limit(1).toArray();
        return first?._id;
      }),
    erase: (ticketIds) => storeCall(() => eraseEvents(connection, events.collectionName, ticketIds)),
    removeOlderThan: (time) => storeCall(() => removeOlderThan(time)),
  };
}

/** Returns the document that says which positions readers may read. */
function readablePositions(connection: Connection) {
  const feeds = openCollection<FeedDocument>(connection, 'feed');
  const update = (change: mongo.UpdateFilter<FeedDocument>) =>
    retryUpsert(() => feeds.updateOne({ _id: feedId }, change, { upsert: true }));

  async function read(): Promise<FeedBounds | undefined> {
    const feed = await feeds.findOne({ _id: feedId });
    return feed?.last === undefined ? undefined : { first: feed.first ?? 1, last: feed.last };
  }

  return {
    read,
    beginAt: (first: number) => update({ $max: { first } }),
    /**
     * Lets readers read up to a position. A write that was acknowledged is in the journal with all that came before it; if
     * the events were inserted by another process, whose write was perhaps not acknowledged, one more write is needed.
     */
    async extendTo(last: number, { isFlushed }: { isFlushed: boolean }): Promise<void> {
      if (!isFlushed) {
        if (((await read())?.last ?? 0) >= last) return;
        await update({ $inc: { flushes: 1 } });
      }
      await update({ $max: { last } });
    },
  };
}

function toDocument(_id: number, event: TicketChanged, receivedAt: Date): EventDocument {
  const { eventId, ticketId, type } = event;
  return { _id, eventId, ticketId, type, receivedAt, event: new Binary(toBinary(TicketChangedSchema, event)) };
}

function fromDocument({ _id, receivedAt, event }: Pick<EventDocument, '_id' | 'receivedAt' | 'event'>): StoredEvent {
  return { position: _id, receivedAt, event: parseEvent(event.value()) };
}
