import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { expect, test } from 'vitest';
import { openDailyJob } from '../src/leases/daily-job.ts';

const connection = await testDatabase();

// guarantee: F36
test('only one of several replicas runs the job of a day', async () => {
  const job = openDailyJob(connection, 'once');
  const runs = await Promise.all(Array.from({ length: 8 }, () => job.claim('2026-03-01')));
  const claimed = runs.filter((run) => run !== undefined);
  expect(claimed).toHaveLength(1);
  await claimed[0]?.finish();
  expect(await job.claim('2026-03-01')).toBeUndefined();
  expect(await job.claim('2026-03-02')).toBeDefined();
});

test('another replica claims a run whose lease has expired, but not one that is renewed', async () => {
  let now = Date.now();
  const [first, second] = [0, 1].map(() => openDailyJob(connection, 'broken', () => now));
  const run = await first?.claim('2026-03-01');
  now += 4 * 60_000;
  expect(await run?.renew()).toBe(true);
  now += 4 * 60_000;
  expect(await second?.claim('2026-03-01')).toBeUndefined();
  now += 2 * 60_000;
  const other = await second?.claim('2026-03-01');
  expect(other).toBeDefined();
  expect(await run?.renew()).toBe(false);
  await run?.finish();
  await other?.release();
  const again = await first?.claim('2026-03-01');
  expect(again).toBeDefined();
  await again?.finish();
  now += 10 * 60_000;
  expect(await second?.claim('2026-03-01')).toBeUndefined();
});
