import { Webhook } from 'standardwebhooks';
import type { components } from './gen/openapi.ts';

/** A change of a ticket: an event of the feed, and `data` of a webhook. */
export type TicketEvent = components['schemas']['TicketChanged'];

/** The body of a webhook. `webhook.test` is a test message; types may be added. */
export type WebhookMessage =
  | { type: TicketEvent['type']; timestamp: string; data: TicketEvent }
  | { type: 'webhook.test'; timestamp: string; data: { webhookId: number } };

/** A request that a receiver of webhooks got. */
export interface ReceivedWebhook {
  /** The bytes as they arrived: JSON that was parsed and written again has another signature. */
  body: string | Uint8Array;
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Verifies a webhook, and returns its message. While a secret is being replaced, pass the old and the new one.
 *
 * Errors: an Error if no secret has signed it, or if it is more than five minutes old or ahead.
 * Source: Standard Webhooks; docs/reference/api.md, Delivery.
 */
export function verifyWebhook(secrets: string | readonly string[], { body, headers }: ReceivedWebhook): WebhookMessage {
  const all = typeof secrets === 'string' ? [secrets] : secrets;
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  let failure: unknown = new Error('There is no secret.');
  for (const secret of all) {
    try {
      return new Webhook(secret).verify(text, signed(headers)) as WebhookMessage;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function signed(headers: ReceivedWebhook['headers']): Record<string, string> {
  const read = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    return typeof value === 'string' ? value : '';
  };
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, read(name)]));
}
