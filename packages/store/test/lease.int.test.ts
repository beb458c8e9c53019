import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { expect, test } from 'vitest';
import { followServerTime, serverTime } from '../src/connection/server-time.ts';
import { type Leased, openLeases } from '../src/leases/lease.ts';

interface Job extends Leased {
  state?: string;
  attempts?: number;
}

const connection = await testDatabase();
let now = Date.now();
const jobs = openCollection<Job>(connection, 'jobs');
const leases = openLeases(jobs, { connection, durationMs: 1000, now: () => now });

test('of many concurrent claims of a document, one succeeds', async () => {
  await jobs.insertOne({ _id: 'one' });
  const claims = await Promise.all(Array.from({ length: 8 }, () => leases.claim({ _id: 'one' })));
  expect(claims.filter(Boolean)).toHaveLength(1);
});

test('of many concurrent claims of a document that does not exist, one creates it', async () => {
  const claim = () => leases.claim({ _id: 'new' }, { setOnInsert: { state: 'made' } });
  const claims = await Promise.all(Array.from({ length: 8 }, claim));
  expect(claims.filter(Boolean)).toMatchObject([{ _id: 'new', state: 'made', lease: { owner: expect.any(String) } }]);
});

test('a claim lasts while it is renewed; when it has expired, another can claim the document', async () => {
  const first = await leases.claim({ _id: 'held' }, { setOnInsert: {}, increment: { attempts: 1 } });
  const claimed = { id: 'held', owner: first?.lease.owner ?? '' };
  now += 900;
  expect(await leases.renew(claimed, { state: 'half' })).toBe(true);
  now += 900;
  expect(await leases.claim({ _id: 'held' })).toBeUndefined();
  now += 200;
  const second = await leases.claim({ _id: 'held' }, { increment: { attempts: 1 } });
  expect(second).toMatchObject({ state: 'half', attempts: 2 });
  expect(await leases.renew(claimed)).toBe(false);
  expect(await leases.release(claimed, { state: 'late' })).toBe(false);
  expect((await jobs.findOne({ _id: 'held' }))?.state).toBe('half');
});

test('a released document can be claimed at once', async () => {
  const first = await leases.claim({ _id: 'free' }, { setOnInsert: {} });
  expect(await leases.release({ id: 'free', owner: first?.lease.owner ?? '' }, { state: 'done' })).toBe(true);
  expect(await leases.claim({ _id: 'free' })).toMatchObject({ state: 'done' });
});

test('documents without a lease are claimed in the given order', async () => {
  for (const [index, _id] of ['b', 'c', 'a'].entries())
    await jobs.insertOne({ _id, state: 'waiting', attempts: index });
  const order = [];
  for (let count = 0; count < 4; count++) {
    order.push((await leases.claim({ state: 'waiting' }, { sort: { attempts: 1 } }))?._id);
  }
  expect(order).toEqual(['b', 'c', 'a', undefined]);
});

const claimSome = (state: string, limit: number) =>
  leases.claimSome({ state }, { sort: { attempts: 1 }, limit }, ({ attempts = 0 }) => ({
    isUnchanged: { attempts },
    set: { state: `${state}, claimed` },
    increment: { attempts: 10 },
  }));

test('some documents are claimed together, in their order, and returned as the claim leaves them', async () => {
  await jobs.insertMany(['s3', 's1', 's2'].map((_id) => ({ _id, state: 'some', attempts: Number(_id[1]) })));
  const claimed = await claimSome('some', 2);
  expect(claimed.map(({ _id, attempts }) => [_id, attempts])).toEqual([
    ['s1', 11],
    ['s2', 12],
  ]);
  const owners = new Set(claimed.map(({ lease }) => lease.owner));
  expect(owners.size).toBe(1);
  for (const document of claimed) expect(await jobs.findOne({ _id: document._id })).toEqual(document);
  expect(await leases.heldBy([...owners][0] ?? '', ['s1', 's2', 's3'])).toEqual(new Set(['s1', 's2']));
});

test('of many claims of some documents at once, each document is claimed by one', async () => {
  await jobs.insertMany(Array.from({ length: 12 }, (_, nth) => ({ _id: `m${nth}`, state: 'many', attempts: nth })));
  const claims = await Promise.all(Array.from({ length: 6 }, () => claimSome('many', 4)));
  const ids = claims.flat().map(({ _id }) => _id);
  expect(ids.length).toBeGreaterThanOrEqual(4);
  expect(new Set(ids).size).toBe(ids.length);
});

test('leases use the clock of the server, even if the clock of the host is wrong', async () => {
  const stop = await followServerTime(connection);
  const real = Date.now;
  try {
    const before = serverTime(connection);
    Date.now = () => real() + 3_600_000;
    expect(Math.abs(serverTime(connection) - before)).toBeLessThan(5_000);
    const byServer = openLeases(jobs, { connection, durationMs: 60_000 });
    expect(await byServer.claim({ _id: 'clock' }, { setOnInsert: {} })).toBeDefined();
    Date.now = real;
    expect(await byServer.claim({ _id: 'clock' })).toBeUndefined();
  } finally {
    Date.now = real;
    stop();
  }
});
