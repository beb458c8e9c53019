import type { WebhookAttempt, WebhookDelivery } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { Attempt, LoggedDelivery } from './rules/delivery.ts';

/** Converts a delivery to its protobuf form. */
export function deliveryToProto(delivery: LoggedDelivery): WebhookDelivery {
  const { id, eventId, eventType, ticketId, status, createdAt, dueAt, attempts } = delivery;
  return {
    $typeName: 'ticketing.settings.v1.WebhookDelivery',
    id,
    eventId,
    eventType,
    ...(ticketId === null ? {} : { ticketId }),
    status,
    createdAt: timestampAt(createdAt),
    // A delivery that is due at once is stored with a time in the past.
    ...(dueAt === null ? {} : { nextAttemptAt: timestampAt(Math.max(dueAt, createdAt)) }),
    attempts: attempts.map(attemptToProto),
  };
}

function attemptToProto({ at, durationMs, status, errorKind, responseStart, address }: Attempt): WebhookAttempt {
  return {
    $typeName: 'ticketing.settings.v1.WebhookAttempt',
    at: timestampAt(at),
    durationMs,
    ...(status === null ? {} : { status }),
    ...(errorKind === null ? {} : { errorKind }),
    ...(responseStart === null ? {} : { responseStart }),
    ...(address === null ? {} : { address }),
  };
}

const timestampAt = (ms: number) => toTimestamp(Math.floor(ms / 1000));
