import { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { timeOrderedIds } from '@ticketing/runtime/time-ordered-id.ts';
import { duplicatesIn, isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import { eraseEvents } from '../../feed/erasure-store.ts';
import type { Attempt, DeliveryState, LoggedDelivery } from './rules/delivery.ts';
import {
  attemptedAgain,
  byDueTime,
  type DeliveryDocument,
  deliveryCollection,
  ended,
  fromDocument,
  logged,
  loggedDelivery,
  toDocument,
} from './schema.ts';

/** Which deliveries of an endpoint are listed, the newest first. */
export interface DeliveryPage {
  status: WebhookDeliveryStatus | undefined;
  /** The last delivery of the page before. */
  afterId: string | undefined;
  limit: number;
}

/** How large a delivery is in JSON, about. */
export interface DeliverySize {
  id: string;
  bytes: number;
}

/** The state of the delivery of an event. */
export interface KnownDelivery {
  id: string;
  isPending: boolean;
  isDelivered: boolean;
}

/** The deliveries, as requests and events see them. Errors of every operation: store_unavailable. */
export interface DeliveryStore {
  /** Makes the id of a new delivery: ids are in the order in which they are made. */
  newId(): string;
  /**
   * Adds deliveries, those of a ticket in their order. A delivery of the same event to the same endpoint that is stored
   * already stays as it is. `erased` names the deleted tickets.
   */
  add(deliveries: readonly DeliveryState[], erased?: ReadonlySet<number>): Promise<void>;
  find(webhookId: number, id: string): Promise<DeliveryState | undefined>;
  /** Returns the delivery of an event to an endpoint. */
  findByEvent(webhookId: number, eventId: string): Promise<DeliveryState | undefined>;
  /** Returns how large the deliveries of a page are, in the order of the page. */
  sizes(webhookId: number, page: DeliveryPage): Promise<DeliverySize[]>;
  /** Reads the given deliveries that exist, the newest first. */
  read(ids: readonly string[]): Promise<LoggedDelivery[]>;
  /** Returns the deliveries of some events to an endpoint, by the ids of the events. */
  known(webhookId: number, eventIds: readonly string[]): Promise<Map<string, KnownDelivery>>;
  /**
   * Makes deliveries due at once. A delivery that has ended starts again from the first attempt. With `isRequested`,
   * somebody waits for the deliveries, and they are attempted before others.
   */
  attemptAgain(webhookId: number, ids: readonly string[], options: { isRequested: boolean }): Promise<void>;
  removeByWebhook(webhookId: number): Promise<void>;
  /** Returns the endpoints that have deliveries. */
  webhookIds(): Promise<number[]>;
  /** Wipes responses and identifiers from the deliveries of tickets, and keeps later responses from being stored. */
  erase(ticketIds: readonly number[]): Promise<void>;
  /**
   * Ends the deliveries that were added before a time and are not attempted although they are due, for example because
   * their endpoint is paused. Returns how many there were. Units: Unix ms.
   */
  expire(addedBefore: number, now: number): Promise<number>;
  /** Removes deliveries that have ended before a time. Units: Unix ms. */
  removeOlderThan(time: number): Promise<void>;
  /** Returns when the oldest delivery that is still attempted was created, in Unix ms. */
  oldestPending(): Promise<number | undefined>;
  /** Returns how many deliveries to some endpoints are still attempted, and due. Units: Unix ms. */
  countDue(webhookIds: readonly number[], now: number): Promise<number>;
}

const maxBatch = 1000;
const { SCHEDULED, RETRYING, DELIVERED, EXHAUSTED } = WebhookDeliveryStatus;
const allStatuses = [SCHEDULED, RETRYING, DELIVERED, EXHAUSTED];

/** Opens the deliveries on a connection. */
export function deliveryStore(connection: Connection, runtime: Runtime): DeliveryStore {
  const deliveries = deliveryCollection(connection);

  /** Inserts in order, so that nobody sees a delivery without the earlier ones of its ticket. */
  async function insertMissing(documents: readonly DeliveryDocument[]): Promise<void> {
    try {
      await deliveries.insertMany([...documents]);
    } catch (error) {
      if (!isDuplicateKey(error) && !duplicatesIn(error)) throw error;
      const missing = await findMissing(documents);
      if (missing.length === documents.length) throw error;
      if (missing.length > 0) await insertMissing(missing);
    }
  }

  async function findMissing(documents: readonly DeliveryDocument[]): Promise<DeliveryDocument[]> {
    const filter = {
      webhookId: { $in: [...new Set(documents.map(({ webhookId }) => webhookId))] },
      eventId: { $in: [...new Set(documents.map(({ eventId }) => eventId))] },
    };
    const stored = await deliveries.find(filter, { projection: { webhookId: 1, eventId: 1 } }).toArray();
    const keys = new Set(stored.map(({ webhookId, eventId }) => `${webhookId}/${eventId}`));
    return documents.filter(({ webhookId, eventId }) => !keys.has(`${webhookId}/${eventId}`));
  }

  async function findOne(filter: mongo.Filter<DeliveryDocument>): Promise<DeliveryState | undefined> {
    const document = await deliveries.findOne(filter);
    return document ? fromDocument(document) : undefined;
  }

  return {
    newId: timeOrderedIds('dlv', runtime),
    add: (added, erased = new Set()) =>
      storeCall(async () => {
        const documents = added.map((one) => toDocument(one, one.ticketId !== null && erased.has(one.ticketId)));
        for (let start = 0; start < documents.length; start += maxBatch) {
          await insertMissing(documents.slice(start, start + maxBatch));
        }
      }),
    find: (webhookId, id) => storeCall(() => findOne({ _id: id, webhookId })),
    findByEvent: (webhookId, eventId) => storeCall(() => findOne({ webhookId, eventId })),
    sizes: (webhookId, { status, afterId, limit }) =>
      storeCall(async () => {
        const filter: mongo.Filter<DeliveryDocument> = { webhookId };
        // Without a status the filter names all of them, because the index gives the order only with a status.
        filter.status = status ?? { $in: [...allStatuses] };
        if (afterId !== undefined) filter._id = { $lt: afterId };
        const projection = { 'attempts.responseJsonBytes': 1 };
        const found = await deliveries.find(filter, { projection }).sort({ _id: -1 }).limit(limit).toArray();
        return found.map(({ _id, attempts }) => ({ id: _id, bytes: estimateBytes(attempts) }));
      }),
    read: (ids) =>
      storeCall(async () => {
        const found = deliveries.find({ _id: { $in: [...ids] } }, { projection: { event: 0 } });
        return (await found.sort({ _id: -1 }).toArray()).map(loggedDelivery);
      }),
    known: (webhookId, eventIds) =>
      storeCall(async () => {
        const filter = { webhookId, eventId: { $in: [...eventIds] } };
        const projection = { eventId: 1, isPending: 1, isDelivered: 1 };
        const found = await deliveries.find(filter, { projection }).toArray();
        return new Map(
          found.map(({ _id, eventId, isPending, isDelivered }) => [eventId, { id: _id, isPending, isDelivered }]),
        );
      }),
    attemptAgain: (webhookId, ids, { isRequested }) =>
      storeCall(async () => {
        const filter = { _id: { $in: [...ids] }, webhookId };
        await deliveries.updateMany({ ...filter, isPending: true }, { $set: { dueAt: 0, isRequested } });
        await deliveries.updateMany({ ...filter, isPending: false }, { $set: { ...attemptedAgain, isRequested } });
      }),
    removeByWebhook: (webhookId) =>
      storeCall(async () => {
        await deliveries.deleteMany({ webhookId });
      }),
    webhookIds: () => storeCall(() => deliveries.distinct('webhookId')),
    erase: (ticketIds) =>
      storeCall(async () => {
        const filter = { ticketId: { $in: [...ticketIds] } };
        const wiped = { responseStart: null, responseJsonBytes: 0, address: null };
        const ofAttempts = Object.entries(wiped).map(([name, value]) => [`attempts.$[].${name}`, value]);
        await deliveries.updateMany(filter, { $set: { isErased: true, ...Object.fromEntries(ofAttempts) } });
        await eraseEvents(connection, deliveries.collectionName, ticketIds);
      }),
    expire: (addedBefore, now) =>
      storeCall(async () => {
        const filter = { _id: { $lt: firstIdAt(addedBefore) }, isPending: true, dueAt: { $lte: now } };
        const update = { $set: ended(EXHAUSTED, now), ...logged(expiry(now)) };
        return (await deliveries.updateMany(filter, update)).modifiedCount;
      }),
    removeOlderThan: (time) =>
      storeCall(async () => {
        await deliveries.deleteMany({ _id: { $lt: firstIdAt(time) }, isPending: false, endedAt: { $lt: time } });
      }),
    oldestPending: () =>
      storeCall(async () => {
        const filter = { isPending: true };
        const [oldest] = await deliveries
          .find(filter, { projection: { createdAt: 1 } })
          .sort({ createdAt: 1 })
          .limit(1)
          .toArray();
        return oldest?.createdAt;
      }),
    countDue: (webhookIds, now) =>
      storeCall(() => {
        const filter = { webhookId: { $in: [...webhookIds] }, isPending: true, dueAt: { $lte: now } };
        return deliveries.countDocuments(filter, { hint: byDueTime });
      }),
  };
}

/** Returns the lower bound of the ids of deliveries that were added at or after a time. Units: Unix ms. */
function firstIdAt(time: number): string {
  return `dlv_${time.toString(16).padStart(12, '0')}`;
}

/** Returns the attempt that the log shows for a delivery that was not made for too long. */
function expiry(at: number): Attempt {
  const none = { status: null, responseStart: null, responseJsonBytes: 0, address: null };
  return { at, durationMs: 0, errorKind: 'expired', ...none };
}

function estimateBytes(attempts: readonly Pick<Attempt, 'responseJsonBytes'>[]): number {
  return attempts.reduce((sum, { responseJsonBytes }) => sum + 300 + responseJsonBytes, 500);
}
