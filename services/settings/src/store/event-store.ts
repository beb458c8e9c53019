import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type TicketChanged,
  TicketChangedSchema,
  type TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/store-error.ts';
import mongoose, { type Connection, type mongo } from 'mongoose';

/** An event in the feed of changes. */
export interface StoredEvent {
  /** Its place in the feed: consecutive numbers from 1, in the order in which the events became visible. */
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

/** The events of the last 30 days. Errors of every operation: store_unavailable. */
export interface EventStore {
  /**
   * Appends events in their order, and returns them with their places. An event that is stored already keeps its place.
   * Whoever sees a place sees all earlier ones too, whatever else is appended or killed at the same time.
   */
  append(events: readonly TicketChanged[]): Promise<StoredEvent[]>;
  /** The first matching events after one place and up to another, in their order. */
  between(after: number, upTo: number, filter: EventFilter, limit: number): Promise<StoredEvent[]>;
  /** The first and the last place that is stored; undefined if there was never an event. */
  bounds(): Promise<{ first: number; last: number } | undefined>;
  /** The first place of an event that was received at or after a time; undefined if there is none. */
  firstSince(time: Date): Promise<number | undefined>;
  /** Removes events that were received before a time. The last event stays, because the next place follows from it. */
  removeOlderThan(time: Date): Promise<void>;
}

interface EventDocument {
  _id: number;
  eventId: string;
  ticketId: number;
  type: TicketChangeType;
  receivedAt: Date;
  event: mongo.Binary;
}

const { Binary, MongoBulkWriteError } = mongoose.mongo;

const collectionOf = (connection: Connection) =>
  connection.collection('events') as unknown as mongo.Collection<EventDocument>;

/** Builds the missing indexes of the feed. */
export async function buildEventIndexes(connection: Connection): Promise<void> {
  const events = collectionOf(connection);
  await events.createIndex({ eventId: 1 }, { unique: true });
  await events.createIndex({ ticketId: 1, _id: 1 });
  await events.createIndex({ receivedAt: 1 });
}

/** Opens the feed on a connection. Source: docs/reference/api.md, Feed of changes. */
export function eventStore(connection: Connection, now: () => number): EventStore {
  const events = collectionOf(connection);

  async function last(): Promise<number> {
    const [newest] = await events
      .find({}, { projection: { _id: 1 } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    return newest?._id ?? 0;
  }

  /** Inserts documents at the end. Stops where another process has inserted first, or has stored the same event. */
  async function insertAtEnd(documents: readonly Omit<EventDocument, '_id'>[]): Promise<void> {
    const end = await last();
    try {
      await events.insertMany(documents.map((document, index) => ({ ...document, _id: end + 1 + index })));
    } catch (error) {
      const [failed] = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [error];
      if ((failed as { code?: number } | undefined)?.code !== 11_000 && !isDuplicateKey(error)) throw error;
    }
  }

  async function append(given: readonly TicketChanged[]): Promise<StoredEvent[]> {
    const byId = new Map(given.map((event) => [event.eventId, event]));
    for (;;) {
      const stored = await events.find({ eventId: { $in: [...byId.keys()] } }).toArray();
      const known = new Set(stored.map(({ eventId }) => eventId));
      const missing = [...byId.values()].filter(({ eventId }) => !known.has(eventId));
      if (missing.length === 0) return stored.map(storedEvent).sort((left, right) => left.position - right.position);
      const receivedAt = new Date(now());
      await insertAtEnd(missing.map((event) => documentOf(event, receivedAt)));
    }
  }

  return {
    append: (given) => storeCall(() => append(given)),
    between: (after, upTo, filter, limit) =>
      storeCall(async () => {
        const query: mongo.Filter<EventDocument> = { _id: { $gt: after, $lte: upTo } };
        if (filter.types.length > 0) query.type = { $in: [...filter.types] };
        if (filter.ticketId !== undefined) query.ticketId = filter.ticketId;
        return (await events.find(query).sort({ _id: 1 }).limit(limit).toArray()).map(storedEvent);
      }),
    bounds: () =>
      storeCall(async () => {
        const [oldest] = await events
          .find({}, { projection: { _id: 1 } })
          .sort({ _id: 1 })
          .limit(1)
          .toArray();
        return oldest && { first: oldest._id, last: await last() };
      }),
    firstSince: (time) =>
      storeCall(async () => {
        const query = { receivedAt: { $gte: time } };
        const [first] = await events.find(query).sort({ receivedAt: 1, _id: 1 }).limit(1).toArray();
        return first?._id;
      }),
    removeOlderThan: (time) =>
      storeCall(async () => {
        await events.deleteMany({ receivedAt: { $lt: time }, _id: { $lt: await last() } });
      }),
  };
}

function documentOf(event: TicketChanged, receivedAt: Date): Omit<EventDocument, '_id'> {
  const { eventId, ticketId, type } = event;
  return { eventId, ticketId, type, receivedAt, event: new Binary(toBinary(TicketChangedSchema, event)) };
}

function storedEvent({ _id, receivedAt, event }: EventDocument): StoredEvent {
  return { position: _id, receivedAt, event: fromBinary(TicketChangedSchema, event.value()) };
}
