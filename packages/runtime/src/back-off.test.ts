import { expect, test } from 'vitest';
import { backOffMs, withJitter } from './back-off.ts';

test('each wait is longer than the one before it, up to the longest', () => {
  const waits = [0, 1, 2, 3, 2000].map((failures) => backOffMs(failures, { firstMs: 100, longestMs: 500 }));
  expect(waits).toEqual([100, 200, 400, 500, 500]);
  expect(backOffMs(2, { firstMs: 1, longestMs: 100, factor: 4 })).toBe(16);
});

test.each([
  [0, 80],
  [0.5, 100],
  [1, 120],
])('a wait changes by up to a fifth', (random, ms) => {
  expect(withJitter(100, () => random)).toBeCloseTo(ms);
});
