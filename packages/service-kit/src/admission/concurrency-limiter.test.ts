import { expect, test } from 'vitest';
import { concurrencyLimiter } from './concurrency-limiter.ts';

test('admits as many requests of a key as its limit, and one more when one of them has ended', () => {
  const limiter = concurrencyLimiter();
  const [end, other] = [limiter.acquire('a', 2), limiter.acquire('a', 2)];
  expect([typeof end, typeof other]).toEqual(['function', 'function']);
  expect(limiter.acquire('a', 2)).toBeUndefined();
  expect(limiter.acquire('b', 2)).toBeDefined();
  end?.();
  expect(limiter.acquire('a', 2)).toBeDefined();
  expect(limiter.acquire('a', 2)).toBeUndefined();
});
