import { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import mongoose, { type Connection, type mongo } from 'mongoose';
import { toErasedBytes } from '../../feed/rules/event.ts';
import type { Attempt, DeliveryState, LoggedDelivery, PendingDelivery } from './rules/delivery.ts';

const maxAttempts = 20;

/** A stored delivery. Units: Unix ms. */
export interface DeliveryDocument extends Omit<DeliveryState, 'id' | 'event'> {
  _id: string;
  event: mongo.Binary | null;
  /** Whether it is still attempted. */
  isPending: boolean;
  /** When its attempts ended; null while it is pending. */
  endedAt: number | null;
  /**
   * Set when the ticket was deleted. Then no part of a response is stored, and the event has no values that identify
   * people.
   */
  isErased?: true;
}

/** The fields of a stored delivery that the dispatcher reads. */
export type PendingDocument = Omit<DeliveryDocument, 'attempts'>;

/** The pending deliveries of an endpoint in the order of the feed. */
export const byPosition = { webhookId: 1, position: 1, dueAt: 1, ticketId: 1 } as const;
/** The pending deliveries of an endpoint by ticket. */
export const byTicket = { webhookId: 1, ticketId: 1, position: 1, dueAt: 1, isDelivered: 1 } as const;
/** The pending deliveries of an endpoint for which somebody waits. */
export const byRequest = { webhookId: 1, isRequested: 1 } as const;
/** The pending deliveries of an endpoint by the time at which they are due. */
export const byDueTime = { webhookId: 1, dueAt: 1 } as const;

/** The collection with the ids of deleted tickets, of whose deliveries nothing may be stored any more. */
export const erasedTicketCollection = 'erasedTickets';

/** Opens the collection of the deliveries. */
export function deliveryCollection(connection: Connection): mongo.Collection<DeliveryDocument> {
  return openCollection<DeliveryDocument>(connection, 'webhookDeliveries');
}

/** Builds the missing indexes of the deliveries. */
export async function buildDeliveryIndexes(connection: Connection): Promise<void> {
  const deliveries = deliveryCollection(connection);
  const ofPending = { partialFilterExpression: { isPending: true } };
  await deliveries.createIndex({ webhookId: 1, eventId: 1 }, { unique: true });
  await deliveries.createIndex({ webhookId: 1, status: 1, _id: 1 });
  await deliveries.createIndex({ ticketId: 1 });
  for (const index of [byPosition, byTicket, byDueTime, { createdAt: 1 } as const]) {
    await deliveries.createIndex(index, ofPending);
  }
  await deliveries.createIndex(byRequest, { partialFilterExpression: { isPending: true, isRequested: true } });
}

/** Converts a new delivery to its document. */
export function toDocument({ id, event, ...delivery }: DeliveryState, isErased: boolean): DeliveryDocument {
  return {
    _id: id,
    ...delivery,
    event: event && new mongoose.mongo.Binary(isErased ? toErasedBytes(event) : event),
    isPending: true,
    endedAt: null,
    ...(isErased ? { isErased: true as const } : {}),
  };
}

/** Converts a document to its delivery. */
export function fromDocument({ attempts, ...document }: DeliveryDocument): DeliveryState {
  return { ...pendingDelivery(document), attempts };
}

/** Returns a stored delivery that was read without its attempts. */
export function pendingDelivery(document: PendingDocument): PendingDelivery {
  const { _id, event, isPending: _isPending, endedAt: _endedAt, isErased: _isErased, ...delivery } = document;
  return { id: _id, ...delivery, event: event?.value() ?? null };
}

/** Returns a stored delivery as the log shows it. */
export function loggedDelivery(document: Omit<DeliveryDocument, 'event'> & { event?: unknown }): LoggedDelivery {
  const { _id, event: _event, isPending: _isPending, endedAt: _endedAt, isErased: _isErased, ...delivery } = document;
  return { id: _id, ...delivery };
}

/** The fields of a delivery that is to be attempted at once, from the first attempt on. */
export const attemptedAgain = {
  status: WebhookDeliveryStatus.SCHEDULED,
  isPending: true,
  endedAt: null,
  dueAt: 0,
  attemptsMade: 0,
} as const;

/** Returns the fields of a delivery that is not attempted any more. Units: `endedAt` in Unix ms. */
export const ended = (status: WebhookDeliveryStatus, endedAt: number) => ({
  status,
  isPending: false,
  endedAt,
  isRequested: false,
  dueAt: null,
});

/** Adds an attempt to the log of a delivery, which keeps the last 20. */
export function logged(attempt: Attempt) {
  return { $push: { attempts: { $each: [attempt], $slice: -maxAttempts } } };
}
