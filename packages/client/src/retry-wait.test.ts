import { expect, test } from 'vitest';
import { backoffMs, retryAfterMs } from './retry-wait.ts';

test('reads Retry-After as seconds and as a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(retryAfterMs('3', now)).toBe(3000);
  expect(retryAfterMs('Thu, 01 Jan 2026 00:00:05 GMT', now)).toBe(5000);
  expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  expect([undefined, '', 'soon'].map((header) => retryAfterMs(header, now))).toEqual([undefined, undefined, undefined]);
});

test('doubles the wait with each attempt up to a limit, and makes half of it random', () => {
  expect([1, 2, 3, 20].map((attempt) => backoffMs(attempt, () => 1))).toEqual([250, 500, 1000, 10_000]);
  expect(backoffMs(2, () => 0)).toBe(250);
});
