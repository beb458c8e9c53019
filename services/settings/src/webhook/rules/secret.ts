import type { Runtime } from '@ticketing/runtime/runtime.ts';

/** Returns the text that the encryption binds the secrets of a webhook endpoint to. */
export const webhookBinding = (id: number): string => `webhook ${id}`;

/** Makes a secret with which deliveries are signed. */
export function newWebhookSecret({ randomBytes }: Pick<Runtime, 'randomBytes'>): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
