import { encryptAgain } from '../domain/encrypt-again.ts';
import { webhookBinding } from '../domain/webhook-secret.ts';
import type { Context } from './context.ts';

/** Encrypts all stored secrets with the current key, after it was replaced. Source: docs/services/settings.md, Secrets. */
export async function encryptSecretsAgain(context: Context): Promise<void> {
  const { configuration, webhooks, secretBox } = context;
  let found = false;
  let areAllCurrent = true;
  const header = { eventId: context.newEventId(), occurredAt: context.now() };
  await configuration.change((current) => {
    const change = encryptAgain(current, secretBox);
    found ||= change !== undefined;
    return change;
  }, header);
  for (const webhook of await webhooks.all()) {
    if (!webhook.secrets.some(({ sealed }) => secretBox.isOld(sealed))) continue;
    found = true;
    const binding = webhookBinding(webhook.id);
    const secrets = webhook.secrets.map((secret) => ({
      ...secret,
      sealed: secretBox.seal(secretBox.open(secret.sealed, binding), binding),
    }));
    // If a request has rotated the secrets first, the next run encrypts what is left.
    areAllCurrent = (await webhooks.replaceSecrets(webhook, secrets)) && areAllCurrent;
  }
  if (found && areAllCurrent) context.log.info('all secrets are encrypted with the current key');
}
