import { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { storeCall } from '@ticketing/store/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import type { Attempt, Delivery } from '../domain/delivery.ts';
import {
  byDueTime,
  byPosition,
  byTicket,
  type DeliveryDocument,
  deliveryCollection,
  deliveryOf,
  ended,
} from './delivery-model.ts';

/** An attempt that was made, and what it leads to. Units: Unix ms. */
export interface AttemptResult {
  id: string;
  attempt: Attempt;
  attemptsMade: number;
  status: WebhookDeliveryStatus;
  /** When the next attempt is made; null if there is none. */
  dueAt: number | null;
}

/** The pending deliveries, as the dispatcher sees them. Units: Unix ms. Errors of every operation: store_unavailable. */
export interface DeliveryQueue {
  /** Those of some endpoints that have deliveries which are due, besides those with the given ids. */
  withDue(webhookIds: readonly number[], now: number, exceptIds: readonly string[]): Promise<number[]>;
  /**
   * The first deliveries to an endpoint that can be attempted now, in the order of the feed. Those of the given tickets are
   * left out, and so are those that wait for an earlier delivery of their ticket: they become due with it.
   */
  due(webhookId: number, now: number, exceptTickets: readonly number[], limit: number): Promise<DueDeliveries>;
  /** Records attempts. Of a delivery that has ended meanwhile only the log grows, unless the attempt was successful. */
  record(results: readonly AttemptResult[]): Promise<void>;
  /** Makes the deliveries due that waited for an earlier one of their ticket. */
  release(webhookId: number, ticketId: number): Promise<void>;
  /** Ends all deliveries to an endpoint. */
  exhaust(webhookId: number): Promise<void>;
}

/** Deliveries that are due, and whether there may be more. */
export interface DueDeliveries {
  deliveries: Delivery[];
  mayHaveMore: boolean;
}

type Waiting = Pick<DeliveryDocument, 'position' | 'dueAt'>;

const maxAttempts = 20;
const { SCHEDULED, DELIVERED, EXHAUSTED } = WebhookDeliveryStatus;

/** Opens the queue on a connection. */
export function deliveryQueue(connection: Connection): DeliveryQueue {
  const collection = deliveryCollection(connection);

  /** The earliest pending delivery of each ticket that is before one of the found deliveries, and not among them. */
  async function firstWaiting(webhookId: number, found: readonly DeliveryDocument[]) {
    const tickets = [...new Set(found.flatMap(({ ticketId }) => ticketId ?? []))];
    const first = new Map<number | null, Waiting>();
    const last = found.at(-1);
    if (!last || tickets.length === 0) return first;
    const isFound = new Set(found.map(({ position }) => position));
    const filter = { webhookId, ticketId: { $in: tickets }, isPending: true, position: { $lt: last.position } };
    const projection = { _id: 0, ticketId: 1, position: 1, dueAt: 1 };
    for await (const { ticketId, ...waiting } of collection.find(filter, { projection }).hint(byTicket)) {
      if (isFound.has(waiting.position)) continue;
      if (waiting.position < (first.get(ticketId)?.position ?? Number.POSITIVE_INFINITY)) first.set(ticketId, waiting);
    }
    return first;
  }

  /** Makes the deliveries of tickets due together with an earlier one for which they wait. */
  async function postpone(webhookId: number, now: number, blocked: ReadonlyMap<number | null, Waiting>): Promise<void> {
    const updates = [...blocked].map(([ticketId, { position, dueAt }]) => ({
      updateMany: {
        filter: { webhookId, ticketId, isPending: true, position: { $gt: position }, dueAt: { $lte: now } },
        update: { $set: { dueAt } },
      },
    }));
    if (updates.length > 0) await collection.bulkWrite(updates, { ordered: false });
  }

  return {
    withDue: (webhookIds, now, exceptIds) =>
      storeCall(async () => {
        const filter: mongo.Filter<DeliveryDocument> = {
          webhookId: { $in: [...webhookIds] },
          isPending: true,
          dueAt: { $lte: now },
        };
        if (exceptIds.length > 0) filter._id = { $nin: [...exceptIds] };
        return collection.distinct('webhookId', filter, { hint: byDueTime });
      }),
    due: (webhookId, now, exceptTickets, limit) =>
      storeCall(async () => {
        const filter: mongo.Filter<DeliveryDocument> = { webhookId, isPending: true, dueAt: { $lte: now } };
        if (exceptTickets.length > 0) filter.ticketId = { $nin: [...exceptTickets] };
        const found = await collection.find(filter).sort({ position: 1 }).hint(byPosition).limit(limit).toArray();
        const waiting = await firstWaiting(webhookId, found);
        const isBlocked = ({ ticketId, position }: DeliveryDocument) =>
          ticketId !== null && position > (waiting.get(ticketId)?.position ?? Number.POSITIVE_INFINITY);
        const blocked = new Set(found.filter(isBlocked).map(({ ticketId }) => ticketId));
        await postpone(webhookId, now, new Map([...waiting].filter(([ticketId]) => blocked.has(ticketId))));
        const deliveries = found.filter((one) => !isBlocked(one)).map(deliveryOf);
        // One for which others wait can have become due since the first read.
        const hasBecomeDue = [...blocked].some((ticketId) => (waiting.get(ticketId)?.dueAt ?? 0) <= now);
        return { deliveries, mayHaveMore: found.length === limit || hasBecomeDue };
      }),
    record: (results) =>
      storeCall(async () => {
        const { matchedCount } = await collection.bulkWrite(results.map(whole), { ordered: false });
        if (matchedCount < results.length) await collection.bulkWrite(results.flatMap(wiped));
      }),
    release: (webhookId, ticketId) =>
      storeCall(async () => {
        const filter = { webhookId, ticketId, isPending: true, status: SCHEDULED, dueAt: { $gt: 0 } };
        await collection.updateMany(filter, { $set: { dueAt: 0 } });
      }),
    exhaust: (webhookId) =>
      storeCall(async () => {
        await collection.updateMany({ webhookId, isPending: true }, { $set: ended(EXHAUSTED) });
      }),
  };
}

type Update = mongo.AnyBulkWriteOperation<DeliveryDocument>;

/** Records an attempt of a delivery that has not ended, and whose ticket was not deleted. */
function whole(result: AttemptResult): Update {
  const filter = { _id: result.id, isPending: true, isErased: { $exists: false } };
  return { updateOne: { filter, update: { $set: stateAfter(result), ...logged(result.attempt) } } };
}

/**
 * Records an attempt that `whole` did not record, without what the receiver has responded: the ticket may have been deleted.
 * If the delivery has ended meanwhile, a failure does not change its state.
 */
function wiped(result: AttemptResult): Update[] {
  const attempt = { ...result.attempt, responseStart: null, address: null };
  const filter: mongo.Filter<DeliveryDocument> = { _id: result.id, 'attempts.at': { $ne: attempt.at } };
  const changesState = result.status === DELIVERED ? filter : { ...filter, isPending: true };
  return [
    { updateOne: { filter: changesState, update: { $set: stateAfter(result), ...logged(attempt) } } },
    { updateOne: { filter, update: logged(attempt) } },
  ];
}

function stateAfter({ attemptsMade, status, dueAt }: AttemptResult): Partial<DeliveryDocument> {
  if (status === DELIVERED) return { ...ended(status), attemptsMade, isDelivered: true };
  return { status, attemptsMade, dueAt, isPending: dueAt !== null };
}

function logged(attempt: Attempt) {
  return { $push: { attempts: { $each: [attempt], $slice: -maxAttempts } } };
}
