import { create } from '@bufbuild/protobuf';
import { AttachmentSchema } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { mongo } from 'mongoose';
import { expect, test, vi } from 'vitest';
import { copyFiles } from '../src/copy-files.ts';
import { countFiles, openFileQuota } from '../src/file-quota.ts';
import { fileStore } from '../src/file-store.ts';

const mib = 1024 * 1024;
const hour = 60 * 60 * 1000;
const connection = await testDatabase();
let now = 1_000 * hour;
let nextId = 1;
const person = () => testCaller({ profileId: nextId++ });
/** The counts as another process has opened them. */
const open = (fileMibPerDay = 10) =>
  openFileQuota(
    connection,
    async () => ({ fileMibPerDay }),
    () => now,
  );
const refused = (retryAfterSeconds: number) => ({
  ...{ code: 'resource_exhausted', reason: 'storage_quota', retryAfterSeconds },
});

test('a person stores as much as the setting says, in all processes together, and no byte more', async () => {
  const caller = person();
  await open().take(caller, 4 * mib);
  await open().take(caller, 6 * mib - 1);
  await expect(open().take(caller, 2)).rejects.toMatchObject(refused(25 * 3600));
  await open().take(caller, 1);
  await expect(open().take(caller, 1)).rejects.toMatchObject({ reason: 'storage_quota' });
  await open(11).take(caller, mib);
  await open().take(person(), 10 * mib);
});

// guarantee: F3
test('requests at the same time never store more than the limit together', async () => {
  const caller = person();
  const takes = Array.from({ length: 30 }, () => open().take(caller, mib));
  const taken = (await Promise.allSettled(takes)).filter(({ status }) => status === 'fulfilled').length;
  expect(taken).toBeLessThanOrEqual(10);
  // Refused files do not count.
  for (let left = 10 - taken; left > 0; left--) await open().take(caller, mib);
  await expect(open().take(caller, 1)).rejects.toMatchObject({ reason: 'storage_quota' });
});

test('an hour counts until 24 hours after its end, and Retry-After says when there is room', async () => {
  const caller = person();
  await open().take(caller, 3 * mib);
  now += 2 * hour;
  await open().take(caller, 7 * mib);
  await expect(open().take(caller, 2 * mib)).rejects.toMatchObject(refused(23 * 3600));
  await expect(open().take(caller, 4 * mib)).rejects.toMatchObject(refused(25 * 3600));
  await expect(open().take(caller, 11 * mib)).rejects.toMatchObject(refused(25 * 3600));
  now += 23 * hour;
  await open().removeExpired();
  await open().take(caller, 3 * mib);
  await expect(open().take(caller, 1)).rejects.toMatchObject({ reason: 'storage_quota' });
});

test.each(['serviceWorker', 'codeExecutor', 'system', 'service'] as const)('a %s has no limit', async (kind) => {
  const caller = testCaller({ kind });
  const giveBack = await open(0).take(caller, 100 * mib);
  await giveBack();
  expect(await connection.collection('fileBytes').countDocuments({ owner: `${kind} ${caller.profileId}` })).toBe(0);
});

test('files of which one could not be stored do not count', async () => {
  const caller = person();
  const quota = open();
  const failure = new Error('no disk');
  const storing = countFiles({ quota }, caller, async (take) => {
    await take(6 * mib);
    await take(4 * mib);
    throw failure;
  });
  await expect(storing).rejects.toBe(failure);
  await quota.take(caller, 10 * mib);
});

test('files that are not stored stop to count in the hour in which they were counted', async () => {
  const caller = person();
  const giveBack = await open().take(caller, 6 * mib);
  now += hour;
  await open().take(caller, 4 * mib);
  await giveBack();
  now += 24 * hour;
  await open().removeExpired();
  await open().take(caller, 6 * mib);
  await expect(open().take(caller, 1)).rejects.toMatchObject({ reason: 'storage_quota' });
});

test('files whose count cannot be read back do not count', async () => {
  const caller = person();
  const read = vi.spyOn(mongo.Collection.prototype, 'find').mockImplementationOnce(() => {
    throw new mongo.MongoNetworkError('connection closed');
  });
  await expect(open().take(caller, 10 * mib)).rejects.toMatchObject({ reason: 'store_unavailable' });
  read.mockRestore();
  await open().take(caller, 10 * mib);
});

test('copies of the files of a template count for the caller, and are not stored beyond the limit', async () => {
  const files = fileStore(connection);
  const context = { files, quota: open(1), runtime: systemRuntime };
  const caller = person();
  const size = 600 * 1024;
  const original = create(AttachmentSchema, { id: 'a', name: 'a', size, contentType: 'text/plain' });
  const copy = () =>
    copyFiles(context, { caller }, [original], async function* read() {
      yield Buffer.alloc(size);
    });
  expect(await copy()).toHaveLength(1);
  const stored = () => connection.collection('fileRecords').countDocuments();
  const before = await stored();
  await expect(copy()).rejects.toMatchObject({ reason: 'storage_quota' });
  expect(await stored()).toBe(before);
});
