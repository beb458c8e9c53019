import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { spacedRead } from './spaced-read.ts';

/** The value that the reads see. */
let value = 0;
let count = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  value = 0;
  count = 0;
});
afterEach(() => vi.useRealTimers());

const everyMs = 100;
const open = (periodMs = everyMs) =>
  spacedRead(async () => {
    count += 1;
    return value;
  }, periodMs);

test('calls in the same period share one read, which sees what was written before each of them', async () => {
  const read = open();
  expect(await read()).toBe(0);
  const early = read();
  value = 1;
  const late = read();
  expect(count).toBe(1);
  expect(await Promise.all([early, late])).toEqual([1, 1]);
  expect(count).toBe(2);
});

test('after a period a read begins at once', async () => {
  // Longer than a test may take: the timers are real.
  const periodMs = 600_000;
  const read = open(periodMs);
  await read();
  vi.advanceTimersByTime(periodMs);
  await read();
  expect(count).toBe(2);
});

test('a failed read fails those who share it, and the next one is made', async () => {
  let isDown = true;
  const read = spacedRead(async () => {
    if (isDown) throw new Error('down');
    return 1;
  }, 10);
  expect((await Promise.allSettled([read(), read()])).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isDown = false;
  expect(await read()).toBe(1);
});

test('a read that never ends is not made a second time beside it', async () => {
  const read = spacedRead(() => {
    count += 1;
    return new Promise<never>(() => undefined);
  }, everyMs);
  for (let nth = 0; nth < 3; nth += 1) {
    void read();
    await expect.poll(() => count).toBe(1);
    vi.advanceTimersByTime(everyMs);
  }
});
