import type { Print } from '@ticketing/events/operations.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { allAreCurrent, describeEncryption, type Encryption } from '@ticketing/text/encryption.ts';
import type { SettingParts } from './setting/open.ts';
import { encryptAgain, hasOldSecrets } from './setting/rules/encrypt-again.ts';
import { webhookBinding } from './webhook/rules/secret.ts';
import type { WebhookStore } from './webhook/store.ts';

/** The stores with secrets. */
export interface EncryptionParts extends Pick<SettingParts, 'settings' | 'secretBox' | 'newEvent'> {
  webhooks: WebhookStore;
  log: Logger;
}

/**
 * Encrypts all stored secrets with the current key, after it was replaced. Returns how many documents were encrypted again,
 * and how many are left because a request has changed them meanwhile.
 *
 * Source: docs/operations/key-rotation.md, Keys of stored secrets.
 */
export async function encryptSecretsAgain(parts: EncryptionParts): Promise<Encryption> {
  const { settings, webhooks, secretBox, newEvent, log } = parts;
  const areSettingsOld = hasOldSecrets(await settings.read(), secretBox);
  if (areSettingsOld) await settings.change((current) => encryptAgain(current, secretBox), newEvent());
  const result = { encrypted: areSettingsOld ? 1 : 0, left: 0 };
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
  if (result.encrypted > 0 && result.left === 0) log.info(allAreCurrent);
  return result;
}

/** The operation `encrypt-secrets`. Returns how many documents are left. */
export async function printEncryption(parts: EncryptionParts, print: Print): Promise<number> {
  const result = await encryptSecretsAgain(parts);
  print(describeEncryption('settings', result));
  return result.left;
}
