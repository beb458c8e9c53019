import { expect, it } from 'vitest';
import { smtpSessions } from './smtp-sessions.ts';

const limits = { connectionsPerAddress: 2, beforeMailMs: 60_000, sessionMs: 60_000 };

it('counts the sessions of an address, and those of a /64 network of IPv6 together', () => {
  const sessions = smtpSessions(limits, () => ({ connections: new Set() }) as never);
  expect(sessions.begin('a', '2001:db8:0:1::1')).toBe(true);
  expect(sessions.begin('b', '2001:db8:0:1:ffff::2')).toBe(true);
  expect(sessions.begin('c', '2001:db8:0:1::3')).toBe(false);
  expect(sessions.begin('d', '2001:db8:0:2::1')).toBe(true);
  expect(sessions.begin('e', '192.0.2.1')).toBe(true);
  expect(sessions.begin('f', '::ffff:192.0.2.1')).toBe(true);
  expect(sessions.begin('g', '192.0.2.1')).toBe(false);
  for (const id of ['a', 'c']) sessions.forget(id);
  expect(sessions.begin('h', '2001:db8:0:1::4')).toBe(true);
});
