import type {
  DeleteWebhookRequest,
  DeleteWebhookResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { DeliveryParts } from './open.ts';

/**
 * Deletes a webhook endpoint with its deliveries.
 *
 * Errors: webhook_not_found. Source: docs/reference/api.md, Webhooks.
 */
export async function deleteWebhook(
  { webhooks, deliveries, dispatcher }: DeliveryParts,
  _call: Call,
  { id }: DeleteWebhookRequest,
): Promise<DeleteWebhookResponse> {
  const existed = await webhooks.remove(id);
  dispatcher.wakeForEndpoints();
  // Runs for a deleted endpoint too, because the first request may have ended before this step.
  await deliveries.removeByWebhook(id);
  if (!existed) throw notFound('Webhook');
  return { $typeName: 'ticketing.settings.v1.DeleteWebhookResponse', success: true };
}
