import { DomainError } from '@ticketing/errors/domain-error.ts';
import { expect, test } from 'vitest';
import { failedTokens } from './failed-tokens.ts';

const good = async () => 'caller';
const fails = (reason: string) => async () => {
  throw new DomainError('unauthenticated', reason, 'No.');
};
const guess = fails('invalid_token');
const isLimited = { reason: 'rate_limited', retryAfterSeconds: 60 };

// guarantee: C15
test('as many invalid tokens as the limit are verified, and then none of the address until the minute has passed', async () => {
  let clock = 0;
  const { guard } = failedTokens(2, () => clock);
  await expect(guard('192.0.2.1', guess)).rejects.toMatchObject({ reason: 'invalid_token' });
  expect(await guard('192.0.2.1', good)).toBe('caller');
  await expect(guard('::ffff:192.0.2.1', guess)).rejects.toMatchObject({ reason: 'invalid_token' });
  await expect(guard('192.0.2.1', good)).rejects.toMatchObject(isLimited);
  expect(await guard('192.0.2.2', good)).toBe('caller');
  clock = 60_000;
  expect(await guard('192.0.2.1', good)).toBe('caller');
});

test('a missing token, and one that cannot be verified now, do not count', async () => {
  const { guard } = failedTokens(1, () => 0);
  for (const reason of ['missing_token', 'issuer_unavailable']) {
    await expect(guard('192.0.2.1', fails(reason))).rejects.toMatchObject({ reason });
  }
  expect(await guard('192.0.2.1', good)).toBe('caller');
});

test('0 is no limit', async () => {
  const { guard } = failedTokens(0, () => 0);
  for (let count = 0; count < 3; count++) await expect(guard('192.0.2.1', guess)).rejects.toThrow('No.');
  expect(await guard('192.0.2.1', good)).toBe('caller');
});
