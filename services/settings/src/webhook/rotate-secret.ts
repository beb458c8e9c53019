import type {
  RotateWebhookSecretRequest,
  RotateWebhookSecretResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { findWebhook } from './find.ts';
import type { WebhookParts } from './open.ts';
import { maxLiveSecrets, rotated, type WebhookSecret } from './rules/endpoint.ts';
import { newWebhookSecret, webhookBinding } from './rules/secret.ts';

const tooOften = 'The secret was replaced by others at the same time.';

/**
 * Gives a webhook endpoint a new secret. The secrets before it sign for 24 hours more.
 *
 * Errors: webhook_not_found; too_many_secrets; concurrent_change. Source: docs/reference/api.md, Webhooks.
 */
export async function rotateWebhookSecret(
  parts: WebhookParts,
  { idempotency }: Call,
  { id }: RotateWebhookSecretRequest,
): Promise<RotateWebhookSecretResponse> {
  const requestId = idempotency?.id ?? null;
  const { sealed } = await retryOnConflict(parts.runtime, tooOften, () => rotate(parts, id, requestId));
  parts.wakeForEndpoints();
  const secret = parts.secretBox.open(sealed, webhookBinding(id));
  return { $typeName: 'ticketing.settings.v1.RotateWebhookSecretResponse', success: true, secret };
}

/** Adds a secret, unless a process that has died did so for the same request. */
async function rotate(
  parts: WebhookParts,
  id: number,
  requestId: string | null,
): Promise<WebhookSecret | typeof conflict> {
  const { webhooks, secretBox, runtime } = parts;
  const webhook = await findWebhook(parts, id);
  const known = requestId === null ? undefined : webhook.secrets.find((one) => one.requestId === requestId);
  if (known) return known;
  const sealed = secretBox.seal(newWebhookSecret(runtime), webhookBinding(id));
  const next: WebhookSecret = { sealed, endsAt: null, requestId };
  const secrets = rotated(webhook.secrets, next, runtime.now());
  if (secrets.length > maxLiveSecrets) {
    const detail = `${maxLiveSecrets} secrets of this webhook sign already.`;
    throw new DomainError('failed_precondition', 'too_many_secrets', detail);
  }
  return (await webhooks.replaceSecrets(webhook, secrets)) ? next : conflict;
}
