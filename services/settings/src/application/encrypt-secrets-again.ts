import { encryptAgain } from '../domain/encrypt-again.ts';
import { webhookPlace } from '../domain/webhook-signature.ts';
import type { Context } from './context.ts';

/** Encrypts all stored secrets with the current key, after it was replaced. Source: docs/services/settings.md, Secrets. */
export async function encryptSecretsAgain(context: Context): Promise<void> {
  const { configuration, webhooks, secretBox } = context;
  const header = { eventId: context.newEventId(), occurredAt: context.now() };
  await configuration.change((current) => encryptAgain(current, secretBox), header);
  for (const webhook of await webhooks.all()) {
    if (!webhook.secrets.some(({ sealed }) => secretBox.isOld(sealed))) continue;
    const place = webhookPlace(webhook.id);
    const secrets = webhook.secrets.map((secret) => ({
      ...secret,
      sealed: secretBox.seal(secretBox.open(secret.sealed, place), place),
    }));
    // If a request has rotated the secrets first, the next run encrypts what is left.
    await webhooks.replaceSecrets(webhook, secrets);
  }
}
