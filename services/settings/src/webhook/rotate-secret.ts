import type {
  RotateWebhookSecretRequest,
  RotateWebhookSecretResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { findWebhook } from './find.ts';
import { maxLiveSecrets, rotated, type WebhookSecret } from './rules/endpoint.ts';
import { newWebhookSecret, webhookBinding } from './rules/secret.ts';

/**
 * Gives a webhook endpoint a new secret. The secrets before it sign for 24 hours more.
 *
 * Errors: webhook_not_found; too_many_secrets. Source: docs/reference/api.md, Webhooks.
 */
export async function rotateWebhookSecret(
  context: Context,
  { idempotency }: Call,
  { id }: RotateWebhookSecretRequest,
): Promise<RotateWebhookSecretResponse> {
  const requestId = idempotency?.id ?? null;
  const { sealed } = await rotate(context, id, requestId);
  context.dispatcher?.wakeForEndpoints();
  const secret = context.secretBox.open(sealed, webhookBinding(id));
  return { $typeName: 'ticketing.settings.v1.RotateWebhookSecretResponse', success: true, secret };
}

/** Adds a secret, unless a process that has died did so for the same request. */
async function rotate(context: Context, id: number, requestId: string | null): Promise<WebhookSecret> {
  const { webhooks, secretBox, runtime } = context;
  for (;;) {
    const webhook = await findWebhook(context, id);
    const made = requestId === null ? undefined : webhook.secrets.find((one) => one.requestId === requestId);
    if (made) return made;
    const sealed = secretBox.seal(newWebhookSecret(runtime), webhookBinding(id));
    const next: WebhookSecret = { sealed, endsAt: null, requestId };
    const secrets = rotated(webhook.secrets, next, runtime.now());
    if (secrets.length > maxLiveSecrets) {
      const detail = `${maxLiveSecrets} secrets of this webhook sign already.`;
      throw new DomainError('failed_precondition', 'too_many_secrets', detail);
    }
    // If another request has rotated first, this one comes after it.
    if (await webhooks.replaceSecrets(webhook, secrets)) return next;
  }
}
