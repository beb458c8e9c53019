import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { expect, test } from 'vitest';
import { openLastSeen } from '../src/leases/last-seen.ts';

const database = await testDatabase();
const lastSeen = openLastSeen(database);
/** Makes all sightings older by a second. */
const passSecond = () =>
  database
    .collection('lastSeen')
    .updateMany({}, [{ $set: { seenAt: { $dateSubtract: { startDate: '$seenAt', unit: 'second', amount: 1 } } } }]);
const age = async (name: string) => (await lastSeen.ages([name])).get(name);
/** How much older the sighting of b is than that of a. */
async function lead(): Promise<number> {
  const ages = await lastSeen.ages(['a', 'b']);
  return (ages.get('b') ?? Number.NaN) - (ages.get('a') ?? Number.NaN);
}

test('the age of a sighting grows until the next one', async () => {
  await lastSeen.note(['a', 'b']);
  await passSecond();
  expect(await age('a')).toBeGreaterThanOrEqual(1);
  expect(await lead()).toBe(0);
  await lastSeen.note(['a']);
  expect(await lead()).toBeGreaterThanOrEqual(1);
  expect(await age('b')).toBeGreaterThanOrEqual(1);
});

test('an absence counts from when something is first expected, and other names are unknown', async () => {
  await lastSeen.expect(['c']);
  await passSecond();
  await lastSeen.expect(['c']);
  expect(await age('c')).toBeGreaterThanOrEqual(1);
  expect([...(await lastSeen.ages(['c', 'd'])).keys()]).toEqual(['c']);
});
