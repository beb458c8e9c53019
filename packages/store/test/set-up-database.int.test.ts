import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from '../src/connection/database.ts';
import { setUpDatabase } from '../src/connection/set-up-database.ts';
import { isSetUp } from '../src/connection/store-format.ts';

const connection = await testDatabase();
const store = { mongodbUri: inject('mongodbUri'), database: connection.name, reserveBytes: undefined };
const marks = connection.collection<{ _id: string }>('storeFormat');

beforeEach(() => connection.dropDatabase());

/** Sets the database up. Returns whether it was new. */
async function setUp(build: () => Promise<void> = async () => undefined): Promise<boolean | undefined> {
  let isNew: boolean | undefined;
  await setUpDatabase('tickets', store, async (_connection, isNewDatabase) => {
    isNew = isNewDatabase;
    await build();
  });
  return isNew;
}

test('no process uses a new database before its indexes are built, even if its set-up was killed meanwhile', async () => {
  const killed = setUp(() => Promise.reject(new Error('killed')));
  await expect(killed).rejects.toThrow('killed');
  const database = openDatabase(store.mongodbUri, store.database, () => undefined);
  onTestFinished(() => database.close());
  await expect.poll(() => database.isMissingSetUp()).toBe(true);
  const isUsed: boolean[] = [];
  expect(await setUp(async () => void isUsed.push(await isSetUp(connection)))).toBe(true);
  expect(isUsed).toEqual([false]);
  await database.opened;
  expect(await setUp()).toBe(false);
});

test('a database that an older version has set up, without saying whether its indexes are built, is used', async () => {
  await setUp();
  await marks.updateOne({ _id: 'storeFormat' }, { $unset: { isBuilt: '' } });
  expect(await isSetUp(connection)).toBe(true);
  expect(await setUp(() => Promise.reject(new Error('no space'))).catch(String)).toBe('Error: no space');
  expect(await isSetUp(connection)).toBe(true);
  expect(await setUp()).toBe(false);
});
