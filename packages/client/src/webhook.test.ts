import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifyWebhook } from './webhook.ts';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const body = '{"type":"webhook.test","timestamp":"2026-01-31T09:10:00Z","data":{"webhookId":1}}';

function signed(secondsAgo = 0) {
  const at = new Date(Date.now() - secondsAgo * 1000);
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
  };
}

describe('verifyWebhook', () => {
  test('returns the message of genuine bytes, with headers of Node and of fetch', () => {
    expect(verifyWebhook(secret, { body, headers: signed() })).toEqual(JSON.parse(body));
    expect(verifyWebhook(secret, { body: Buffer.from(body), headers: new Headers(signed()) }).type).toBe(
      'webhook.test',
    );
  });

  test('accepts one of several secrets', () => {
    expect(verifyWebhook([other, secret], { body, headers: signed() }).type).toBe('webhook.test');
    expect(() => verifyWebhook([other], { body, headers: signed() })).toThrow('No matching signature found');
    expect(() => verifyWebhook([], { body, headers: signed() })).toThrow('There is no secret.');
  });

  test('refuses another body, an old message, and one without a signature', () => {
    expect(() => verifyWebhook(secret, { body: `${body} `, headers: signed() })).toThrow('No matching signature found');
    expect(() => verifyWebhook(secret, { body, headers: signed(302) })).toThrow('Message timestamp too old');
    expect(() => verifyWebhook(secret, { body, headers: {} })).toThrow('Missing required headers');
    expect(verifyWebhook(secret, { body, headers: signed(290) }).type).toBe('webhook.test');
  });
});
