import { setTimeout } from 'node:timers/promises';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { expect, test } from 'vitest';
import { openLastSeen } from '../src/leases/last-seen.ts';

const lastSeen = openLastSeen(await testDatabase());
const age = async (name: string) => (await lastSeen.ages([name])).get(name);
/** How much older the sighting of b is than that of a. */
async function lead(): Promise<number> {
  const ages = await lastSeen.ages(['a', 'b']);
  return (ages.get('b') ?? Number.NaN) - (ages.get('a') ?? Number.NaN);
}

test('the age of a sighting grows until the next one', async () => {
  await lastSeen.note(['a', 'b']);
  await setTimeout(300);
  expect(await age('a')).toBeGreaterThan(0.25);
  expect(await lead()).toBe(0);
  await lastSeen.note(['a']);
  expect(await lead()).toBeGreaterThan(0.25);
  expect(await age('b')).toBeGreaterThan(0.25);
});

test('an absence counts from when something is first expected, and other names are unknown', async () => {
  await lastSeen.expect(['c']);
  await setTimeout(300);
  await lastSeen.expect(['c']);
  expect(await age('c')).toBeGreaterThan(0.25);
  expect([...(await lastSeen.ages(['c', 'd'])).keys()]).toEqual(['c']);
});
