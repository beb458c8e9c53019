import { Webhook } from 'standardwebhooks';

/** A message that is signed. Units: `at` in Unix ms. */
export interface SignedMessage {
  id: string;
  at: number;
  /** The text whose UTF-8 bytes are sent. */
  body: string;
}

const encodedSecret = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Returns the headers of Standard Webhooks for a message, with a signature of each secret. A secret `whsec_…` stands
 * for the bytes that its base64 encodes, any other one for those of its text.
 */
export function signatureHeaders(secrets: readonly string[], { id, at, body }: SignedMessage): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const webhook = encodedSecret.test(secret) ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
    return webhook.sign(id, new Date(at), body);
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}
