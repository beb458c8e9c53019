import { expect, test } from 'vitest';
import { latestBefore } from './latest-before.ts';

const now = 1_800_000_000_000;

test.each([0, 500, 5_000, 61_000, 3_600_000, 40 * 86_400_000])('finds what happened %d ms ago', async (ageMs) => {
  let questions = 0;
  const found = await latestBefore(async (time) => {
    questions += 1;
    return time <= now - ageMs;
  }, now);
  expect(now - found).toBeGreaterThanOrEqual(ageMs);
  expect(now - found).toBeLessThanOrEqual(ageMs + Math.max(1_000, ageMs * 0.12));
  expect(questions).toBeLessThan(30);
});

test('ends if something happened before any time', async () => {
  expect(now - (await latestBefore(async () => false, now))).toBeGreaterThan(400 * 86_400_000);
});
