import { toBinary } from '@bufbuild/protobuf';
import {
  TicketChangedSchema,
  TicketChangeTypeSchema,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { WebhookDeliveryStatus, WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';
import type { StoredEvent } from '../../feed/store.ts';
import { takesEvent } from '../rules/endpoint.ts';
import type { DeliveryParts } from './open.ts';
import type { DeliveryState } from './rules/delivery.ts';

const spellings = readSpellings(TicketChangeTypeSchema);

/**
 * Adds a delivery of each event to each endpoint that takes it. An event that is handled again has no effect. `erased`
 * names the deleted tickets of the events. `traces` has the `traceparent` of events by their ids, if traces are
 * recorded.
 *
 * Source: docs/reference/api.md, Delivery.
 */
export async function addDeliveries(
  parts: Pick<DeliveryParts, 'webhooks' | 'deliveries' | 'dispatcher' | 'runtime'>,
  events: readonly StoredEvent[],
  erased?: ReadonlySet<number>,
  traces?: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  const webhooks = (await parts.webhooks.all()).filter(({ status }) => status !== WebhookStatus.DISABLED);
  if (webhooks.length === 0) return;
  const deliveries = events.flatMap((stored) =>
    webhooks
      .filter((webhook) => stored.position > webhook.afterPosition && takesEvent(webhook, stored.event))
      .map(({ id }) => withTrace(newDelivery(parts, id, stored), traces)),
  );
  if (deliveries.length === 0) return;
  await parts.deliveries.add(deliveries, erased);
  parts.dispatcher.wake();
}

function withTrace(
  delivery: DeliveryState,
  traces: ReadonlyMap<string, string | undefined> | undefined,
): DeliveryState {
  const traceparent = traces?.get(delivery.eventId);
  return traceparent === undefined ? delivery : { ...delivery, traceparent };
}

/** Returns a delivery that is due at once. */
export function newDelivery(
  { deliveries, runtime }: Pick<DeliveryParts, 'deliveries' | 'runtime'>,
  webhookId: number,
  { position, event }: StoredEvent,
): DeliveryState {
  return {
    id: deliveries.newId(),
    webhookId,
    eventId: event.eventId,
    eventType: spellings.get(event.type) ?? '',
    ticketId: event.ticketId,
    position,
    status: WebhookDeliveryStatus.SCHEDULED,
    createdAt: runtime.now(),
    dueAt: 0,
    isDelivered: false,
    isRequested: false,
    attemptsMade: 0,
    attempts: [],
    event: toBinary(TicketChangedSchema, event),
  };
}
