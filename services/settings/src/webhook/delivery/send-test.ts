import {
  type TestWebhookRequest,
  type TestWebhookResponse,
  WebhookDeliveryStatus,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findEnabledWebhook } from '../find.ts';
import type { DeliveryParts } from './open.ts';
import { testType } from './rules/body.ts';
import { deliveryToProto } from './to-proto.ts';

/**
 * Sends a test message to a webhook endpoint, before all other deliveries and also while the breaker pauses the endpoint.
 *
 * Errors: webhook_not_found; webhook_disabled. Source: docs/reference/api.md, Webhooks.
 */
export async function testWebhook(
  parts: DeliveryParts,
  { idempotency }: Call,
  { id }: TestWebhookRequest,
): Promise<TestWebhookResponse> {
  await findEnabledWebhook(parts, id);
  const { deliveries, webhooks, dispatcher, runtime } = parts;
  const eventId = idempotency ? `evt_${idempotency.id.replaceAll('-', '')}` : timeOrderedId('evt', runtime);
  await deliveries.add([
    {
      id: deliveries.newId(),
      webhookId: id,
      eventId,
      eventType: testType,
      ticketId: null,
      position: 0,
      status: WebhookDeliveryStatus.SCHEDULED,
      createdAt: runtime.now(),
      dueAt: 0,
      isDelivered: false,
      isRequested: true,
      attemptsMade: 0,
      attempts: [],
      event: null,
    },
  ]);
  const delivery = await deliveries.findByEvent(id, eventId);
  // The endpoint was deleted in this moment.
  if (!delivery) throw notFound('Webhook');
  await webhooks.endPause(id);
  dispatcher.wakeForEndpoints();
  return {
    $typeName: 'ticketing.settings.v1.TestWebhookResponse',
    success: true,
    delivery: deliveryToProto(delivery),
  };
}
