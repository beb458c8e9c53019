import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { diskReserve, reserveFile } from './disk-reserve.ts';

const bytes = 1_600_000;
let folder: string;
let free = 0;
let now = 0;
const open = (size = bytes) =>
  diskReserve(
    folder,
    size,
    async () => ({ total: 100 * bytes, free }),
    () => now,
  );
const stored = () =>
  stat(join(folder, reserveFile)).then(
    ({ size, mode }) => ({ size, mode: mode & 0o777 }),
    () => undefined,
  );

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reserve-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('takes space while there is plenty, and gives it away in parts when the disk is full, one a second', async () => {
  const reserve = open();
  const checked = async (left: number) => {
    free = left;
    await reserve.check();
    return (await stored())?.size;
  };
  expect(await checked(4 * bytes)).toBeUndefined();
  expect(await checked(4 * bytes + 1)).toBe(bytes);
  expect((await stored())?.mode).toBe(0o600);
  expect(await checked(bytes / 8)).toBe(bytes);
  for (const [at, size] of [
    [0, 1_200_000],
    [999, 1_200_000],
    [1_000, 800_000],
    [2_000, 400_000],
    [3_000, undefined],
    [4_000, undefined],
  ] as const) {
    now = at;
    expect([at, await checked(0)]).toEqual([at, size]);
  }
  expect(await checked(4 * bytes)).toBeUndefined();
  expect(await checked(4 * bytes + 1)).toBe(bytes);
});

it('gives everything to a start on a full disk', async () => {
  free = 100 * bytes;
  await open().check();
  await open().prepare();
  expect((await stored())?.size).toBe(bytes);
  free = bytes / 2 - 1;
  await open().prepare();
  expect(await stored()).toBeUndefined();
});

it('leaves no half of a file: not of a process that has died, and not when it cannot be completed', async () => {
  free = 100 * bytes;
  await writeFile(join(folder, `${reserveFile}.unfinished`), 'half');
  await open().prepare();
  expect(await readdir(folder)).toEqual([]);
  // Nothing can be renamed to the name of a folder.
  await mkdir(join(folder, reserveFile));
  await expect(open().check()).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST|ENOTDIR/);
  expect(await readdir(folder)).toEqual([reserveFile]);
});

it('takes nothing if it has no size', async () => {
  free = 100 * bytes;
  await open(0).check();
  expect(await stored()).toBeUndefined();
});
