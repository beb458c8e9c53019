import {
  type TestWebhookRequest,
  type TestWebhookResponse,
  WebhookDeliveryStatus,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../../context.ts';
import { findEnabledWebhook } from '../find.ts';
import { testType } from './rules/body.ts';
import { deliveryMessage } from './to-proto.ts';

/**
 * Sends a test message to a webhook endpoint, before all other deliveries and also while the breaker pauses the endpoint.
 *
 * Errors: webhook_not_found; webhook_disabled. Source: docs/reference/api.md, Webhooks.
 */
export async function testWebhook(
  context: Context,
  { idempotency }: Call,
  { id }: TestWebhookRequest,
): Promise<TestWebhookResponse> {
  await findEnabledWebhook(context, id);
  const { deliveries, webhooks, runtime } = context;
  const eventId = idempotency ? `evt_${idempotency.id.replaceAll('-', '')}` : context.newEventId();
  await deliveries.add([
    {
      id: context.newDeliveryId(),
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
  context.dispatcher?.wakeForEndpoints();
  return {
    $typeName: 'ticketing.settings.v1.TestWebhookResponse',
    success: true,
    delivery: deliveryMessage(delivery),
  };
}
