import { profileStore } from '@ticketing/store/cache/profile-store.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import type { Connection } from 'mongoose';
import { beforeAll, expect, test } from 'vitest';

let connection: Connection;

beforeAll(async () => {
  connection = await testDatabase();
});

const profiles = () => connection.collection<{ _id: number; firstName: string }>('profiles');

/** A store like that of another process: it shares only the collection. */
function replica(clock: { now: number }) {
  connection.deleteModel(/Profile/);
  return profileStore(connection, () => clock.now);
}

// spec: 2.14
test('a profile that another replica has changed is shown within five seconds and one request', async () => {
  const clock = { now: 1_000_000 };
  const store = replica(clock);
  const name = async () => (await store.find([7])).get(7)?.firstName;
  await store.remember(testCaller({ profileId: 7, firstName: 'Kim' }));
  await profiles().updateOne({ _id: 7 }, { $set: { firstName: 'Kimberly' } });
  clock.now += 5_000;
  expect(await name()).toBe('Kim');
  clock.now += 1;
  // The known profile is returned at once, and read again in the background.
  expect(await name()).toBe('Kim');
  await expect.poll(name).toBe('Kimberly');
});

test('a profile that was read a minute ago is read again', async () => {
  const clock = { now: 1_000_000 };
  const store = replica(clock);
  await profiles().insertOne({ _id: 8, firstName: 'Sam' });
  expect((await store.find([8])).get(8)?.firstName).toBe('Sam');
  await profiles().updateOne({ _id: 8 }, { $set: { firstName: 'Samuel' } });
  clock.now += 60_001;
  expect((await store.find([8])).get(8)?.firstName).toBe('Samuel');
});

test('a profile that has never made a request has no name', async () => {
  const store = replica({ now: 0 });
  expect((await store.find([9])).get(9)).toEqual({ id: 9, firstName: null, lastName: null, email: null });
});
