import { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import mongoose, { type Connection, type mongo } from 'mongoose';
import type { Delivery } from '../domain/delivery.ts';

/** A stored delivery. Units: Unix ms. */
export interface DeliveryDocument extends Omit<Delivery, 'id' | 'event'> {
  _id: string;
  event: mongo.Binary | null;
  /** Whether it is still attempted. */
  isPending: boolean;
  /** Whether an attempt was successful, also before the delivery was requested again. */
  isDelivered: boolean;
  /** Set when the ticket was deleted: then nothing of a response is stored. */
  isErased?: true;
}

/** The pending deliveries of an endpoint in the order of the feed. */
export const byPosition = { webhookId: 1, position: 1, dueAt: 1, ticketId: 1 } as const;
/** The pending deliveries of an endpoint by ticket. */
export const byTicket = { webhookId: 1, ticketId: 1, position: 1, dueAt: 1 } as const;
/** The pending deliveries of an endpoint by the time at which they are due. */
export const byDueTime = { webhookId: 1, dueAt: 1 } as const;

/** The collection of the deliveries. */
export function deliveryCollection(connection: Connection): mongo.Collection<DeliveryDocument> {
  return connection.collection('webhookDeliveries') as unknown as mongo.Collection<DeliveryDocument>;
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
}

/** A new delivery as it is stored. */
export function newDocument({ id, event, ...delivery }: Delivery, isErased: boolean): DeliveryDocument {
  return {
    _id: id,
    ...delivery,
    event: event && new mongoose.mongo.Binary(event),
    isPending: true,
    isDelivered: false,
    ...(isErased ? { isErased: true as const } : {}),
  };
}

/** A stored delivery. */
export function deliveryOf(document: DeliveryDocument): Delivery {
  const { _id, event, isPending: _isPending, isDelivered: _isDelivered, isErased: _isErased, ...delivery } = document;
  return { id: _id, ...delivery, event: event?.value() ?? null };
}

/** The fields of a delivery that is to be attempted at once, from the first attempt on. */
export const attemptedAgain = {
  status: WebhookDeliveryStatus.SCHEDULED,
  isPending: true,
  dueAt: 0,
  attemptsMade: 0,
} as const;

/** The fields of a delivery that is not attempted any more. */
export const ended = (status: WebhookDeliveryStatus) => ({ status, isPending: false, dueAt: null });
