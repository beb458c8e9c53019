import { expect, test } from 'vitest';
import { keyedQueue } from './keyed-queue.ts';

test('runs the work of a key one after the other, in the order of the calls', async () => {
  const queue = keyedQueue<number>();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} begins`);
    await new Promise(setImmediate);
    seen.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all([queue.run(1, work('a')), queue.run(1, work('b')), queue.run(1, work('c'))]);
  expect(results).toEqual(['a', 'b', 'c']);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('does not make other keys wait', async () => {
  const queue = keyedQueue<number>();
  const held = Promise.withResolvers<void>();
  const first = queue.run(1, () => held.promise);
  expect(await queue.run(2, async () => 'free')).toBe('free');
  held.resolve();
  await first;
});

test('continues after work that fails; only the caller of that work gets its error', async () => {
  const queue = keyedQueue<number>();
  const failing = queue.run(1, async () => {
    throw new Error('no');
  });
  const next = queue.run(1, async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
  expect(await queue.run(1, async () => 'again')).toBe('again');
});
