import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { Webhook } from 'standardwebhooks';

/** What the secrets of a webhook endpoint are bound to. */
export const webhookBinding = (id: number): string => `webhook ${id}`;

/** Makes a secret with which deliveries are signed. */
export function newWebhookSecret({ randomBytes }: Pick<Runtime, 'randomBytes'>): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** A message that is signed. Units: `at` in Unix ms. */
export interface SignedMessage {
  id: string;
  at: number;
  /** The text whose UTF-8 bytes are sent. */
  body: string;
}

/** The headers of Standard Webhooks for a message, with a signature of each secret. */
export function signatureHeaders(secrets: readonly string[], { id, at, body }: SignedMessage): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}
