import { type Runtime, systemRuntime } from '@ticketing/runtime/runtime.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { expect, test } from 'vitest';
import { claimFiles, releaseFiles } from '../src/attach-files.ts';
import { openFileQuota } from '../src/file-quota.ts';
import { fileStore } from '../src/file-store.ts';
import { storeContent } from '../src/store-content.ts';
import { sweepFiles } from '../src/sweep-files.ts';

const hour = 60 * 60 * 1000;
const connection = await testDatabase();
const files = fileStore(connection);
const quota = openFileQuota(connection, async () => ({ fileMibPerDay: 1 }));
const at = (now: number) => ({
  files,
  quota,
  runtime: { ...systemRuntime, now: () => now } satisfies Runtime,
});
const file = {
  ...{ name: 'a', size: 1, contentType: 'text/plain', fileEnding: null },
  ...{ inline: false, width: null, height: null },
};
const isStored = async (key: string) => (await files.assign([key], 1)) === true;

// guarantee: I16
test('a file that is released while the sweeper checks it is checked again', async () => {
  const stored = await storeContent(at(0), file, [Buffer.of(1)]);
  await claimFiles({ files }, 1, [stored]);
  await sweepFiles(at(hour), async () => {
    // Its owner still lists it. Now the writer releases it, takes it out of the list, and dies.
    await releaseFiles(at(hour), [stored]);
    return new Set([stored.key]);
  });
  expect(await isStored(stored.key)).toBe(true);
  await sweepFiles(at(2 * hour), async () => new Set());
  expect(await isStored(stored.key)).toBe(false);
});

test('a file that is listed when it is checked is not checked any more', async () => {
  const stored = await storeContent(at(0), file, [Buffer.of(1)]);
  await claimFiles({ files }, 1, [stored]);
  await sweepFiles(at(hour), async () => new Set([stored.key]));
  const checked: unknown[] = [];
  await sweepFiles(at(3 * hour), async (ownerId) => {
    checked.push(ownerId);
    return new Set();
  });
  expect(checked).toEqual([]);
  expect(await isStored(stored.key)).toBe(true);
});
