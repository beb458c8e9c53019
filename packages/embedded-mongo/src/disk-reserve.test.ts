import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { diskReserve, reserveFile } from './disk-reserve.ts';

const bytes = 1_500_000;
let folder: string;
let free = 0;
const reserve = (size = bytes) => diskReserve(folder, size, async () => ({ total: 100 * bytes, free }));
const stored = () =>
  stat(join(folder, reserveFile)).then(
    ({ size, mode }) => ({ size, mode: mode & 0o777 }),
    () => undefined,
  );

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reserve-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('takes space while there is plenty, keeps it, and gives it away when the disk is nearly full', async () => {
  free = 4 * bytes + 1;
  await reserve().check();
  expect(await stored()).toEqual({ size: bytes, mode: 0o600 });
  for (const [left, isKept] of [
    [bytes, true],
    [bytes / 2 - 1, false],
    [4 * bytes, false],
  ] as const) {
    free = left;
    await reserve().check();
    expect([left, (await stored()) !== undefined]).toEqual([left, isKept]);
  }
});

it('takes nothing if it has no size', async () => {
  free = 100 * bytes;
  await reserve(0).check();
  expect(await stored()).toBeUndefined();
});
