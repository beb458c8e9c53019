import { encryptAgain } from '../domain/encrypt-again.ts';
import type { SealedText } from '../domain/sealed-text.ts';
import { webhookBinding } from '../domain/webhook-signature.ts';
import type { Context } from './context.ts';

/** Encrypts all stored secrets with the current key, after it was replaced. Source: docs/services/settings.md, Secrets. */
export async function encryptSecretsAgain(context: Context): Promise<void> {
  const { configuration, webhooks, secretBox } = context;
  const before = await oldCount(context);
  const header = { eventId: context.newEventId(), occurredAt: context.now() };
  await configuration.change((current) => encryptAgain(current, secretBox), header);
  for (const webhook of await webhooks.all()) {
    if (!webhook.secrets.some(({ sealed }) => secretBox.isOld(sealed))) continue;
    const binding = webhookBinding(webhook.id);
    const secrets = webhook.secrets.map((secret) => ({
      ...secret,
      sealed: secretBox.seal(secretBox.open(secret.sealed, binding), binding),
    }));
    // If a request has rotated the secrets first, the next run encrypts what is left.
    await webhooks.replaceSecrets(webhook, secrets);
  }
  if (before > 0 && (await oldCount(context)) === 0) context.log.info('all secrets are encrypted with the current key');
}

/** How many secrets are encrypted with another key than the current one. */
async function oldCount({ configuration, webhooks, secretBox }: Context): Promise<number> {
  const { secrets, subchannels } = await configuration.read();
  const ofSettings = [secrets, ...subchannels.map((one) => one.secrets)].flatMap(Object.values<SealedText>);
  const ofWebhooks = (await webhooks.all()).flatMap((one) => one.secrets.map(({ sealed }) => sealed));
  return [...ofSettings, ...ofWebhooks].filter(secretBox.isOld).length;
}
