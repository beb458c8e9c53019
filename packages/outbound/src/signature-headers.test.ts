import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { signatureHeaders } from './signature-headers.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const id = 'evt_1';

/** Whether a receiver that uses the public package accepts a message. */
function accepts(body: string, headers: Record<string, string>, key = secret): boolean {
  try {
    new Webhook(key).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

// guarantee: W2
// asvs: 11.4.1
it('signs as the reference does', () => {
  const reference = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_999, body: '{"test": 2432232314}' };
  expect(signatureHeaders([reference], message)).toEqual({
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it.each(['a secret without the prefix', 'whsec_not base64 at all', 'whsec_YQ'])('signs with the text of %s', (text) => {
  const headers = signatureHeaders([text], { id, at: Date.now(), body: '{}' });
  expect(new Webhook(text, { format: 'raw' }).verify('{}', headers)).toEqual({});
});

// guarantee: W3
it('every secret signs', () => {
  const other = newSecret();
  const headers = signatureHeaders([secret, other], { id, at: Date.now(), body: '{}' });
  expect([accepts('{}', headers), accepts('{}', headers, other)]).toEqual([true, true]);
  expect(accepts('{}', headers, newSecret())).toBe(false);
});
