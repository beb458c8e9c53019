import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished, vi } from 'vitest';
import { signatureHeaders } from './signature-headers.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const id = 'evt_1';

/** Whether a receiver that uses the public package accepts a message. */
function accepts(body: string | Buffer, headers: Record<string, string>, key = secret): boolean {
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
  const verifier = new Webhook(text, { format: 'raw' });
  expect(() => verifier.verify('{}', headers)).not.toThrow();
});

// guarantee: W3
it('signs any body so that the public package verifies it, and not with one bit flipped', () => {
  const bodies = fc.oneof(fc.string({ unit: 'binary' }), fc.constant(''), fc.json());
  fc.assert(
    fc.property(bodies, fc.nat(), (body, flip) => {
      const headers = signatureHeaders([secret], { id, at: Date.now(), body });
      expect(accepts(body, headers)).toBe(true);
      const bytes = Buffer.from(body);
      expect(accepts(bytes, headers)).toBe(true);
      if (bytes.length === 0) return;
      const at = flip % bytes.length;
      // The lowest bit of a byte that is a whole character: the package compares texts, not bytes.
      if ((bytes[at] ?? 0) < 0x80) {
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        expect(accepts(bytes, headers)).toBe(false);
      }
    }),
  );
  expect(accepts('', signatureHeaders([secret], { id, at: Date.now(), body: '' }))).toBe(true);
});

it.each([
  ['is verified after 300 s', 300, true],
  ['is not verified after 301 s', 301, false],
  ['is verified by a clock that is 300 s behind', -300, true],
  ['is not verified by a clock that is 301 s behind', -301, false],
])('a signature %s', (_promise, seconds, isAccepted) => {
  const headers = signatureHeaders([secret], { id, at: 1_700_000_000_000, body: '{}' });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  vi.setSystemTime(1_700_000_000_000 + seconds * 1000);
  expect(accepts('{}', headers)).toBe(isAccepted);
});

it('a signature belongs to its id and its time', () => {
  const headers = signatureHeaders([secret], { id, at: Date.now(), body: '{}' });
  expect(accepts('{}', { ...headers, 'webhook-id': 'evt_2' })).toBe(false);
  const later = String(Number(headers['webhook-timestamp']) + 1);
  expect(accepts('{}', { ...headers, 'webhook-timestamp': later })).toBe(false);
});

// guarantee: W3
it('every secret signs', () => {
  const other = newSecret();
  const headers = signatureHeaders([secret, other], { id, at: Date.now(), body: '{}' });
  expect([accepts('{}', headers), accepts('{}', headers, other)]).toEqual([true, true]);
  expect(accepts('{}', headers, newSecret())).toBe(false);
});
