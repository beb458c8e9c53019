import { WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import type { WebhookState } from './rules/endpoint.ts';

/** Reads an endpoint. Errors: webhook_not_found. */
export async function findWebhook({ webhooks }: Pick<Context, 'webhooks'>, id: number): Promise<WebhookState> {
  const webhook = await webhooks.find(id);
  if (!webhook) throw notFound('Webhook');
  return webhook;
}

/** Reads an endpoint to which something is to be sent. Errors: webhook_not_found, webhook_disabled. */
export async function findEnabledWebhook(context: Pick<Context, 'webhooks'>, id: number): Promise<WebhookState> {
  const webhook = await findWebhook(context, id);
  if (webhook.status !== WebhookStatus.DISABLED) return webhook;
  throw new DomainError('failed_precondition', 'webhook_disabled', 'The webhook is disabled; set its status first.');
}
