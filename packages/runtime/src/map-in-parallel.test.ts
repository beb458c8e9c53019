import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mapInParallel } from './map-in-parallel.ts';

test('begins the items in their order, some at a time, and returns the results in the same order', async () => {
  const begun: number[] = [];
  const running = new Set<number>();
  let most = 0;
  const results = await mapInParallel([3, 1, 4, 1, 5, 9], 2, async (item, index) => {
    begun.push(index);
    running.add(index);
    most = Math.max(most, running.size);
    for (let turn = 0; turn < item; turn += 1) await setImmediate();
    running.delete(index);
    return `${index}:${item}`;
  });
  expect(results).toEqual(['0:3', '1:1', '2:4', '3:1', '4:5', '5:9']);
  expect([begun, most]).toEqual([[0, 1, 2, 3, 4, 5], 2]);
});

test('fails with the error of an item, and has no results for no items', async () => {
  const work = async (item: number) => (item === 2 ? Promise.reject(new Error('two')) : item);
  await expect(mapInParallel([1, 2, 3], 2, work)).rejects.toThrow('two');
  expect(await mapInParallel([], 2, work)).toEqual([]);
});
