import { expect, test } from 'vitest';
import { sweep } from './sweep.ts';

/** Sweeps numbers, and returns the batches in which they were settled. */
async function toBatches(leftovers: number[], batch: number): Promise<(readonly number[])[]> {
  const batches: (readonly number[])[] = [];
  await sweep({
    batch,
    find: async (limit) => leftovers.slice(0, limit),
    async settle(found) {
      batches.push(found);
      leftovers.splice(0, found.length);
    },
  });
  return batches;
}

test('settles all that is left, in batches', async () => {
  expect(await toBatches([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(await toBatches([1, 2], 2)).toEqual([[1, 2]]);
});

test('settles nothing if nothing is left', async () => {
  expect(await toBatches([], 2)).toEqual([]);
});

test('ends with the error of a batch that cannot be settled', async () => {
  const settle = async () => {
    throw new Error('unavailable');
  };
  await expect(sweep({ batch: 1, find: async () => [1], settle })).rejects.toThrow('unavailable');
});
