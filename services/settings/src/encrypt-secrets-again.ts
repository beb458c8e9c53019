import type { Print } from '@ticketing/events/operations.ts';
import { allAreCurrent, describeEncryption, type Encryption } from '@ticketing/text/encryption.ts';
import type { Context } from './context.ts';
import { encryptAgain } from './setting/rules/encrypt-again.ts';
import { webhookBinding } from './webhook/rules/secret.ts';

/**
 * Encrypts all stored secrets with the current key, after it was replaced. Returns how many documents were encrypted again,
 * and how many are left because a request has changed them meanwhile.
 *
 * Source: docs/operations/key-rotation.md, Keys of stored secrets.
 */
export async function encryptSecretsAgain(context: Context): Promise<Encryption> {
  const { configuration, webhooks, secretBox } = context;
  let isConfigurationOld = false;
  const header = { eventId: context.newEventId(), occurredAt: context.now() };
  await configuration.change((current) => {
    const change = encryptAgain(current, secretBox);
    isConfigurationOld ||= change !== undefined;
    return change;
  }, header);
  const result = { encrypted: isConfigurationOld ? 1 : 0, left: 0 };
  for (const webhook of await webhooks.all()) {
    if (!webhook.secrets.some(({ sealed }) => secretBox.isOld(sealed))) continue;
    const binding = webhookBinding(webhook.id);
    const secrets = webhook.secrets.map((secret) => ({
      ...secret,
      sealed: secretBox.seal(secretBox.open(secret.sealed, binding), binding),
    }));
    // If a request has rotated the secrets first, the next run encrypts what is left.
    if (await webhooks.replaceSecrets(webhook, secrets)) result.encrypted += 1;
    else result.left += 1;
  }
  if (result.encrypted > 0 && result.left === 0) context.log.info(allAreCurrent);
  return result;
}

/** The operation `encrypt-secrets`. Returns how many documents are left. */
export async function printEncryption(context: Context, print: Print): Promise<number> {
  const result = await encryptSecretsAgain(context);
  print(describeEncryption('settings', result));
  return result.left;
}
