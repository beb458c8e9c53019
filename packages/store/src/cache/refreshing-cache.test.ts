import { expect, test } from 'vitest';
import { refreshingCache } from './refreshing-cache.ts';

/** A cache of items that know when they were read, by a separate clock. */
function openCache() {
  const clock = { ms: 0 };
  const reads: (readonly number[])[] = [];
  const cache = refreshingCache(
    async (ids) => {
      reads.push(ids);
      return ids.map((id) => ({ id, readAt: clock.ms }));
    },
    () => clock.ms,
  );
  const find = async (...ids: number[]) => [...(await cache.find(ids)).values()].map(({ readAt }) => readAt);
  return { clock, reads, cache, find };
}

// guarantee: R4
test('an item is used for 5 seconds, then read again in the background, and waited for after a minute', async () => {
  const { clock, reads, find } = openCache();
  await find(1);
  clock.ms = 5_000;
  expect(await find(1)).toEqual([0]);
  expect(reads).toHaveLength(1);
  clock.ms = 5_001;
  expect(await find(1)).toEqual([0]);
  expect(await find(1)).toEqual([5_001]);
  clock.ms = 65_001;
  expect(await find(1)).toEqual([5_001]);
  clock.ms = 125_002;
  expect(await find(1)).toEqual([125_002]);
});

test('old items that are in use are read again together, and those that are not are left alone', async () => {
  const { clock, reads, find } = openCache();
  for (const id of [1, 2, 3, 4]) await find(id);
  for (const id of [1, 2, 3]) await find(id);
  reads.length = 0;
  clock.ms = 5_001;
  expect(await find(3)).toEqual([0]);
  expect(reads.map((ids) => [...ids].sort())).toEqual([[1, 2, 3]]);
  expect(await find(1, 2, 3)).toEqual([5_001, 5_001, 5_001]);
  clock.ms = 10_002;
  reads.length = 0;
  await find(1);
  expect(reads.map((ids) => [...ids].sort())).toEqual([[1, 2, 3]]);
});

test('items in use that were read one after the other are read again together', async () => {
  const { clock, reads, find } = openCache();
  const ids = [1, 2, 3, 4, 5];
  for (const id of ids) {
    clock.ms += 625;
    await find(id);
  }
  await find(...ids);
  reads.length = 0;
  clock.ms = 625 + 5_001;
  await find(1);
  expect(reads.map((read) => [...read].sort())).toEqual([ids]);
  clock.ms += 4_999;
  await find(...ids);
  expect(reads).toHaveLength(1);
});

test('an item that was read less than 2.5 seconds ago is not read again with others', async () => {
  const { clock, reads, find } = openCache();
  await find(1);
  clock.ms = 2_502;
  await find(2);
  await find(1, 2);
  reads.length = 0;
  clock.ms = 5_001;
  await find(1);
  expect(reads).toEqual([[1]]);
});

test('at most 500 items are read again at a time', async () => {
  const { clock, reads, find } = openCache();
  const ids = Array.from({ length: 501 }, (_, index) => index + 1);
  await find(...ids);
  await find(...ids);
  clock.ms = 5_001;
  reads.length = 0;
  await find(501);
  expect(reads.map(({ length }) => length)).toEqual([500]);
  expect(reads[0]).toContain(501);
});
