import { afterEach, expect, test, vi } from 'vitest';
import { type Disk, type FreeSpace, readDisk, requireSpace, watchFreeSpace } from './free-space.ts';

const gib = 1024 ** 3;
const watched: FreeSpace[] = [];
afterEach(() => {
  for (const space of watched.splice(0)) space.close();
  vi.useRealTimers();
});

/** A watched disk, whose next readings a test chooses. */
async function watch(first: Disk | Error | undefined, reserveBytes?: number) {
  vi.useFakeTimers();
  const disk = { next: first, reads: 0 };
  const space = watchFreeSpace(async () => {
    disk.reads += 1;
    if (disk.next instanceof Error) throw disk.next;
    return disk.next;
  }, reserveBytes);
  watched.push(space);
  await vi.advanceTimersByTimeAsync(0);
  return { disk, space };
}

test.each([
  ['1 GiB of a large disk', { total: 100 * gib, free: gib }, undefined],
  ['5 % of a small disk', { total: 10 * gib, free: gib / 2 }, undefined],
  ['the configured bytes', { total: 100 * gib, free: 7 }, 7],
])('keeps %s', async (_, disk, reserveBytes) => {
  expect((await watch(disk, reserveBytes)).space.isFull()).toBe(false);
  const { space } = await watch({ ...disk, free: disk.free - 1 }, reserveBytes);
  expect([space.isFull(), space.reserve()]).toEqual([true, disk.free]);
  expect(() => requireSpace(space)).toThrow(expect.objectContaining({ reason: 'storage_full', followsChange: false }));
});

test('keeps nothing with a reserve of 0, and nothing of a disk that is not known', async () => {
  expect((await watch({ total: gib, free: 0 }, 0)).space.isFull()).toBe(false);
  const { space } = await watch(undefined);
  expect([space.isFull(), space.disk(), space.reserve()]).toEqual([false, undefined, undefined]);
  requireSpace(space);
});

test('notices within half a second that a disk has space again, and reads a roomy one four times a minute', async () => {
  const { disk, space } = await watch({ total: 100 * gib, free: 0 });
  disk.next = { total: 100 * gib, free: 50 * gib };
  await vi.advanceTimersByTimeAsync(500);
  expect(space.isFull()).toBe(false);
  const before = disk.reads;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(disk.reads - before).toBe(4);
});

test('a reading that fails changes nothing, and is repeated', async () => {
  const { disk, space } = await watch({ total: 100 * gib, free: 0 });
  disk.next = new Error('unreachable');
  await vi.advanceTimersByTimeAsync(2_000);
  expect([space.isFull(), disk.reads]).toEqual([true, 5]);
});

test('of a sharded cluster, the fullest disk counts', async () => {
  const shard = (fsUsedSize: number) => ({ fsTotalSize: 10, fsUsedSize });
  const read = (stats: object) => readDisk({ connection: { db: { command: async () => stats } } } as never);
  expect(await read({ ...shard(22), fsTotalSize: 30, raw: { a: shard(3), b: shard(9), c: shard(1) } })).toEqual({
    total: 10,
    free: 1,
  });
  expect(await read({ ok: 1 })).toBeUndefined();
  expect(await read({ fsTotalSize: 0, fsUsedSize: 0 })).toBeUndefined();
});
