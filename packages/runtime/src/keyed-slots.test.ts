import { expect, test } from 'vitest';
import { keyedSlots } from './keyed-slots.ts';

test('as many runs of a key as it has slots go on at once, the others in turn; other keys do not wait', async () => {
  const slots = keyedSlots(2);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string, key: string) =>
    slots.run(key, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const runs = [run('a1', 'a'), run('a2', 'a'), run('a3', 'a'), run('a4', 'a'), run('b1', 'b')];
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  ends[1]?.();
  await runs[1];
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  for (let at = 0; at < runs.length; at++) {
    for (const end of ends) end();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(runs);
  expect(begun.at(-1)).toBe('a4');
});

test('a run that fails frees its slot', async () => {
  const slots = keyedSlots(1);
  await expect(slots.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.run('a', async () => 'next')).toBe('next');
});
