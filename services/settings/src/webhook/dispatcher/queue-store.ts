import { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import type { Attempt, PendingDelivery } from '../delivery/rules/delivery.ts';
import {
  byDueTime,
  byPosition,
  byRequest,
  byTicket,
  type DeliveryDocument,
  deliveryCollection,
  ended,
  logged,
  type PendingDocument,
  pendingDelivery,
} from '../delivery/schema.ts';

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
  /** Returns the given endpoints that have due deliveries, without counting the deliveries in `exceptIds`. */
  withDue(webhookIds: readonly number[], now: number, exceptIds: readonly string[]): Promise<number[]>;
  /**
   * Returns the first deliveries to an endpoint that can be attempted now, in the order of the feed, and the deliveries
   * for which somebody waits. Deliveries of the given tickets are left out, and so are deliveries that wait for an
   * earlier one of their ticket: they become due with it. A delivery that was delivered before neither waits nor makes
   * others wait.
   */
  due(webhookId: number, now: number, exceptTickets: readonly number[], limit: number): Promise<DueDeliveries>;
  /** Records attempts. If a delivery has ended meanwhile, only its log grows, unless the attempt was successful. */
  record(results: readonly AttemptResult[]): Promise<void>;
  /** Makes the deliveries of a ticket due that waited for an earlier one. */
  release(webhookId: number, ticketId: number): Promise<void>;
  /** Ends all deliveries to an endpoint. */
  exhaust(webhookId: number, now: number): Promise<void>;
}

/** Deliveries that are due, and whether there may be more. */
export interface DueDeliveries {
  deliveries: PendingDelivery[];
  mayHaveMore: boolean;
}

type Waiting = Pick<DeliveryDocument, 'position' | 'dueAt'>;

const { SCHEDULED, DELIVERED, EXHAUSTED } = WebhookDeliveryStatus;

/** Opens the queue on a connection. */
export function deliveryQueue(connection: Connection): DeliveryQueue {
  const collection = deliveryCollection(connection);

  /** Finds the deliveries for which somebody waits, and then the first due deliveries, even if they wait for others. */
  async function firstDue(webhookId: number, now: number, exceptTickets: readonly number[], limit: number) {
    const due: mongo.Filter<DeliveryDocument> = { webhookId, isPending: true, dueAt: { $lte: now } };
    const ofTickets: mongo.Filter<DeliveryDocument> =
      exceptTickets.length > 0 ? { ticketId: { $nin: [...exceptTickets] } } : {};
    const ofRequests = { ...due, isRequested: true, $or: [{ isDelivered: true }, ofTickets] };
    const find = (filter: mongo.Filter<DeliveryDocument>) =>
      collection.find<PendingDocument>(filter, { projection: { attempts: 0 } }).limit(limit);
    const [requested, next] = await Promise.all([
      find(ofRequests).hint(byRequest).toArray(),
      find({ ...due, ...ofTickets })
        .sort({ position: 1 })
        .hint(byPosition)
        .toArray(),
    ]);
    const requestedIds = new Set(requested.map(({ _id }) => _id));
    return [...requested, ...next.filter(({ _id }) => !requestedIds.has(_id))];
  }

  /**
   * Finds, for each ticket, the earliest pending delivery before one of the found deliveries that is not among them.
   */
  async function firstWaiting(webhookId: number, found: readonly PendingDocument[]) {
    const ordered = found.filter(({ isDelivered }) => !isDelivered);
    const tickets = [...new Set(ordered.flatMap(({ ticketId }) => ticketId ?? []))];
    const first = new Map<number | null, Waiting>();
    if (tickets.length === 0) return first;
    const isFound = new Set(ordered.map(({ position }) => position));
    const before = Math.max(...isFound);
    const ofTickets = { webhookId, ticketId: { $in: tickets }, isPending: true, isDelivered: false };
    const filter = { ...ofTickets, position: { $lt: before } };
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
        filter: {
          ...{ webhookId, ticketId, isPending: true, isDelivered: false },
          ...{ position: { $gt: position }, dueAt: { $lte: now } },
        },
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
        const found = await firstDue(webhookId, now, exceptTickets, limit);
        const waiting = await firstWaiting(webhookId, found);
        const isBlocked = ({ ticketId, position, isDelivered }: PendingDocument) =>
          !isDelivered && ticketId !== null && position > (waiting.get(ticketId)?.position ?? Number.POSITIVE_INFINITY);
        const blocked = new Set(found.filter(isBlocked).map(({ ticketId }) => ticketId));
        await postpone(webhookId, now, new Map([...waiting].filter(([ticketId]) => blocked.has(ticketId))));
        const deliveries = found.filter((one) => !isBlocked(one)).map(pendingDelivery);
        // A delivery for which others wait may have become due since the first read.
        const hasBecomeDue = [...blocked].some((ticketId) => (waiting.get(ticketId)?.dueAt ?? 0) <= now);
        return { deliveries, mayHaveMore: found.length >= limit || hasBecomeDue };
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
    exhaust: (webhookId, now) =>
      storeCall(async () => {
        await collection.updateMany({ webhookId, isPending: true }, { $set: ended(EXHAUSTED, now) });
      }),
  };
}

type Update = mongo.AnyBulkWriteOperation<DeliveryDocument>;

/** Records an attempt of a delivery that has not ended, and whose ticket was not deleted. */
function whole(result: AttemptResult): Update {
  const filter = {
    ...{ _id: result.id, isPending: true, isErased: { $exists: false as const } },
    // The results of a batch are written again if one of them could not be.
    'attempts.at': { $ne: result.attempt.at },
  };
  return { updateOne: { filter, update: { $set: stateAfter(result), ...logged(result.attempt) } } };
}

/**
 * Records an attempt that `whole` did not record, without the response of the receiver, because the ticket may have
 * been deleted. If the delivery has ended meanwhile, a failure does not change its state.
 */
function wiped(result: AttemptResult): Update[] {
  const attempt = { ...result.attempt, responseStart: null, responseJsonBytes: 0, address: null };
  const filter: mongo.Filter<DeliveryDocument> = { _id: result.id, 'attempts.at': { $ne: attempt.at } };
  const changesState = result.status === DELIVERED ? filter : { ...filter, isPending: true };
  return [
    { updateOne: { filter: changesState, update: { $set: stateAfter(result), ...logged(attempt) } } },
    { updateOne: { filter, update: logged(attempt) } },
  ];
}

function stateAfter({ attempt, attemptsMade, status, dueAt }: AttemptResult): Partial<DeliveryDocument> {
  if (dueAt !== null) return { status, attemptsMade, dueAt, isPending: true, isRequested: false };
  const end = { ...ended(status, attempt.at + attempt.durationMs), attemptsMade };
  return status === DELIVERED ? { ...end, isDelivered: true } : end;
}
