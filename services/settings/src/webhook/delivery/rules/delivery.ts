import type { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';

/** The delivery of an event to a webhook endpoint. Units: Unix ms. */
export interface DeliveryState {
  id: string;
  webhookId: number;
  eventId: string;
  /** The spelling of the type in JSON. */
  eventType: string;
  /** Null for a test message. */
  ticketId: number | null;
  /** The position of the event in the feed; 0 for a test message. Deliveries of a ticket are made in this order. */
  position: number;
  status: WebhookDeliveryStatus;
  createdAt: number;
  /** The time of the next attempt, at the earliest; null if there are no more attempts. */
  dueAt: number | null;
  /** Whether an attempt was ever successful, even before the delivery was requested again. It then has no order. */
  isDelivered: boolean;
  /** Whether somebody waits for its next attempt: it is made before others. */
  isRequested: boolean;
  /** The attempts since it was created, or was requested again. */
  attemptsMade: number;
  /** The last attempts, the oldest first. */
  attempts: readonly Attempt[];
  /** The trace of the request that caused the event (W3C); absent unless traces are recorded. */
  traceparent?: string | undefined;
  /** The event in protobuf; null for a test message. */
  event: Uint8Array | null;
}

/** A delivery as the dispatcher needs it: the log of a failing endpoint would fill its memory. */
export type PendingDelivery = Omit<DeliveryState, 'attempts'>;

/** A delivery as the log shows it. */
export type LoggedDelivery = Omit<DeliveryState, 'event'>;

/** An attempt to make a delivery. Units: Unix ms. */
export interface Attempt {
  at: number;
  durationMs: number;
  /** Null if there was no response. */
  status: number | null;
  /** Null if there was a whole response. */
  errorKind: string | null;
  responseStart: string | null;
  /** How many bytes `responseStart` has in JSON. */
  responseJsonBytes: number;
  address: string | null;
}
