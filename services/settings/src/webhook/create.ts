import {
  type CreateWebhookRequest,
  type CreateWebhookResponse,
  WebhookStatus,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findWebhook } from './find.ts';
import type { WebhookParts } from './open.ts';
import { maxWebhooks } from './rules/endpoint.ts';
import { healthy } from './rules/health.ts';
import { newWebhookSecret, webhookBinding } from './rules/secret.ts';
import { webhookToProto } from './to-proto.ts';
import { requireValidWebhook } from './validate.ts';

/**
 * Creates a webhook endpoint. It gets the events that are received from now on.
 *
 * Errors: address_refused, invalid_url, unknown_subchannel, not_allowed; too_many_webhooks.
 * Source: docs/reference/api.md, Webhooks.
 */
export async function createWebhook(
  parts: WebhookParts,
  { idempotency }: Call,
  request: CreateWebhookRequest,
): Promise<CreateWebhookResponse> {
  const { webhooks, webhookIds, events, secretBox, runtime } = parts;
  await requireValidWebhook(parts, request);
  const next = () => webhookIds.next();
  const id = idempotency ? await idempotency.reserve('webhook', next) : await next();
  const sealed = secretBox.seal(newWebhookSecret(runtime), webhookBinding(id));
  const isAdded = await webhooks.add({
    id,
    url: request.url ?? '',
    description: request.description ?? null,
    eventTypes: request.eventTypes,
    subchannelIds: request.subchannelIds,
    status: request.status ?? WebhookStatus.ACTIVE,
    disabledReason: null,
    createdAt: secondsNow(runtime),
    secrets: [{ sealed, endsAt: null, requestId: null }],
    afterPosition: (await events.bounds())?.last ?? 0,
    health: healthy,
    epoch: 1,
  });
  if (!isAdded) {
    // A repetition of the request uses the id that is reserved for it.
    if (!idempotency) webhookIds.release(id);
    throw new DomainError('already_exists', 'too_many_webhooks', `There are ${maxWebhooks} webhooks already.`);
  }
  parts.wakeForEndpoints();
  // Reads it again: a process that has died may have created it for the same request.
  const webhook = await findWebhook(parts, id);
  const secret = webhook.secrets[0] && secretBox.open(webhook.secrets[0].sealed, webhookBinding(id));
  return {
    $typeName: 'ticketing.settings.v1.CreateWebhookResponse',
    webhook: {
      $typeName: 'ticketing.settings.v1.CreatedWebhook',
      webhook: webhookToProto(webhook),
      ...(secret === undefined ? {} : { secret }),
    },
  };
}
