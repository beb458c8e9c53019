import { expect, test } from 'vitest';
import { sharedRead } from './shared-read.ts';

test('calls during a read share the next read', async () => {
  const reads: ((value: number) => void)[] = [];
  const read = sharedRead(() => new Promise<number>((resolve) => reads.push(resolve)));
  const first = read();
  const second = read();
  const third = read();
  expect(reads).toHaveLength(1);
  reads[0]?.(1);
  expect(await first).toBe(1);
  await expect.poll(() => reads.length).toBe(2);
  reads[1]?.(2);
  expect(await Promise.all([second, third])).toEqual([2, 2]);
  const fourth = read();
  await expect.poll(() => reads.length).toBe(3);
  reads[2]?.(3);
  expect(await fourth).toBe(3);
});

test('a failed read also fails the callers that wait for the next one, but no later callers', async () => {
  let count = 0;
  const read = sharedRead(async () => {
    count += 1;
    if (count === 1) throw new Error('down');
    return count;
  });
  const results = await Promise.allSettled([read(), read(), read()]);
  expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(count).toBe(1);
  expect(await Promise.all([read(), read()])).toEqual([2, 3]);
});

test('a failed read fails only the callers that share it', async () => {
  let count = 0;
  const read = sharedRead(async () => {
    count += 1;
    if (count === 2) throw new Error('down');
    return count;
  });
  const results = await Promise.allSettled([read(), read(), read()]);
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await read()).toBe(3);
});
