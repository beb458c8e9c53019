import type {
  RedeliverWebhookDeliveryRequest,
  RedeliverWebhookDeliveryResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findEnabledWebhook } from '../find.ts';
import type { DeliveryParts } from './open.ts';
import { deliveryToProto } from './to-proto.ts';

/**
 * Sends a delivery again, also while the breaker pauses its endpoint.
 *
 * Errors: webhook_not_found; delivery_not_found; webhook_disabled. Source: docs/reference/api.md, Webhooks.
 */
export async function redeliverWebhookDelivery(
  parts: DeliveryParts,
  { idempotency }: Call,
  { id, deliveryId }: RedeliverWebhookDeliveryRequest,
): Promise<RedeliverWebhookDeliveryResponse> {
  await findEnabledWebhook(parts, id);
  const { deliveries, webhooks, dispatcher } = parts;
  await deliveries.attemptAgain(id, [deliveryId], { isRequested: true });
  const delivery = await deliveries.find(id, deliveryId);
  if (!delivery) throw notFound('Delivery');
  // The response contains responses of the receiver, which are erased with the ticket.
  if (delivery.ticketId !== null) idempotency?.addSubject({ kind: 'Ticket', id: delivery.ticketId });
  await webhooks.endPause(id);
  dispatcher.wakeForEndpoints();
  return {
    $typeName: 'ticketing.settings.v1.RedeliverWebhookDeliveryResponse',
    success: true,
    delivery: deliveryToProto(delivery),
  };
}
