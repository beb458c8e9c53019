import { WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import type { WebhookState } from './rules/endpoint.ts';
import type { WebhookStore } from './store.ts';

/** Reads an endpoint. Errors: webhook_not_found. */
export async function findWebhook(
  { webhooks }: { webhooks: Pick<WebhookStore, 'find'> },
  id: number,
): Promise<WebhookState> {
  const webhook = await webhooks.find(id);
  if (!webhook) throw notFound('Webhook');
  return webhook;
}

/** Reads an endpoint to which something is to be sent. Errors: webhook_not_found, webhook_disabled. */
export async function findEnabledWebhook(
  parts: { webhooks: Pick<WebhookStore, 'find'> },
  id: number,
): Promise<WebhookState> {
  const webhook = await findWebhook(parts, id);
  if (webhook.status !== WebhookStatus.DISABLED) return webhook;
  throw new DomainError('failed_precondition', 'webhook_disabled', 'The webhook is disabled; set its status first.');
}
