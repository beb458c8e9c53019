import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { isDeep, runs } from '@ticketing/testkit/search-effort.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import fc from 'fast-check';
import type { Connection } from 'mongoose';
import { beforeEach, expect, test } from 'vitest';
import { ticketChanged, ticketChanges } from '../../test/feed-events.ts';
import { findStart, readFeed, toFilter } from './read.ts';
import { eventCursor } from './rules/cursor.ts';
import { buildEventIndexes, type EventStore, eventStore } from './store.ts';

const connection = await testDatabase();
const all = { types: [] };

beforeEach(async () => {
  for (const name of ['events', 'feed']) await connection.collection(name).deleteMany({});
  await buildEventIndexes(connection);
});

const open = (now = Date.now) => eventStore(connection, { ...systemRuntime, now });
const positions = (stored: readonly { position: number }[]) => stored.map(({ position }) => position);

test('events get consecutive positions; one that is stored already keeps its own', async () => {
  const store = open();
  expect(await store.bounds()).toBeUndefined();
  expect(await store.append([])).toEqual([]);
  expect(positions(await store.append(ticketChanges(3)))).toEqual([1, 2, 3]);
  expect(positions(await store.append([ticketChanged(1, 2), ticketChanged(2, 1)]))).toEqual([2, 4]);
  expect(positions(await store.append([ticketChanged(2, 2), ticketChanged(2, 2)]))).toEqual([5]);
  expect(await store.bounds()).toEqual({ first: 1, last: 5 });
});

// guarantee: E11
test('events whose insertion was not acknowledged become readable when they are appended again', async () => {
  const killed = eventStore(killing(connection, [{ at: 'updateOne', when: 'before' }]), systemRuntime);
  await expect(killed.append(ticketChanges(2))).rejects.toThrow('killed');
  const store = open();
  expect(await store.bounds()).toBeUndefined();
  expect(positions(await store.append(ticketChanges(2)))).toEqual([1, 2]);
  expect(await store.bounds()).toEqual({ first: 1, last: 2 });
});

test('times never go backwards along the feed, so that old events are removed from its beginning only', async () => {
  const times = [1000, 500, 2000];
  const store = open(() => times.shift() ?? 0);
  for (const version of [1, 2, 3]) await store.append([ticketChanged(1, version)]);
  const stored = await store.between(0, 3, all, 10);
  expect(stored.map(({ receivedAt }) => receivedAt.getTime())).toEqual([1000, 1000, 2000]);
  expect(await store.firstSince(new Date(1000))).toBe(1);
  expect(await store.firstSince(new Date(1001))).toBe(3);
  expect(await store.firstSince(new Date(2001))).toBeUndefined();
  await store.removeOlderThan(new Date(1000));
  expect(await store.bounds()).toEqual({ first: 1, last: 3 });
  await store.removeOlderThan(new Date(1001));
  expect(await store.bounds()).toEqual({ first: 3, last: 3 });
});

test('the last event stays, and the next one follows it', async () => {
  const store = open(() => 1000);
  await store.append(ticketChanges(3));
  await store.removeOlderThan(new Date(5000));
  expect(await store.bounds()).toEqual({ first: 3, last: 3 });
  expect(positions(await store.append([ticketChanged(2, 1)]))).toEqual([4]);
});

// guarantee: E11
test('a reader whose next events are removed while it reads does not skip them', async () => {
  const store = open(() => 1000);
  await store.append(ticketChanges(5));
  const { after, upTo } = await findStart(store, eventCursor(1), '#/after');
  await store.removeOlderThan(new Date(5000));
  await expect(readFeed(store, after, upTo, all, 10)).rejects.toMatchObject({ reason: 'cursor_expired' });
});

// guarantee: E11
test('a reader that keeps next sees every event, per ticket in order, whatever is appended and killed meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }),
      fc.array(fault, { maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      async (partitions, faults, batchSize) => {
        for (const name of ['events', 'feed']) await connection.collection(name).deleteMany({});
        await deliverWhileReading(partitions, faults, batchSize);
      },
    ),
    { numRuns: runs(8, 250), ...(isDeep ? {} : { endOnFailure: true }) },
  );
});

/** Delivers the events of partitions, each by two consumers as in a rebalance, while two readers read. */
async function deliverWhileReading(partitions: number[], faults: Fault[], batchSize: number): Promise<void> {
  const pending = [...faults];
  const expected = partitions.flatMap((count, ticket) =>
    ticketChanges(count).map(({ version }) => `${ticket + 1}/${version}`),
  );
  let isDelivered = false;
  const read = async () => {
    const store = open();
    const seen: string[] = [];
    let cursor: string | undefined;
    for (;;) {
      const wasDelivered = isDelivered;
      const { after, upTo } = await findStart(store, cursor, '#/after');
      const { events, next } = await readFeed(store, after, upTo, toFilter({ types: [] }), 3);
      seen.push(...events.map(({ event }) => `${event.ticketId}/${event.version}`));
      cursor = eventCursor(next);
      if (wasDelivered && events.length === 0) return seen;
    }
  };
  const deliver = async (count: number, ticketId: number) => {
    const events = Array.from({ length: count }, (_, index) => ticketChanged(ticketId, index + 1));
    let store = eventStore(killing(connection, pending), systemRuntime);
    for (let committed = 0; committed < count; ) {
      try {
        committed += (await store.append(events.slice(committed, committed + batchSize))).length;
      } catch (error) {
        if (!String(error).includes('killed')) throw error;
        store = eventStore(killing(connection, pending), systemRuntime);
      }
    }
  };
  const readers = [read(), read()];
  const consumers = partitions.flatMap((count, index) => [deliver(count, index + 1), deliver(count, index + 1)]);
  await Promise.all(consumers).finally(() => {
    isDelivered = true;
  });
  for (const seen of await Promise.all(readers)) {
    expect(new Set(seen)).toEqual(new Set(expected));
    expect(seen).toHaveLength(expected.length);
    for (const ticket of partitions.keys()) {
      const ofTicket = seen.filter((name) => name.startsWith(`${ticket + 1}/`));
      expect(ofTicket).toEqual(expected.filter((name) => name.startsWith(`${ticket + 1}/`)));
    }
  }
  const stored = await connection.collection('events').find().sort({ _id: 1 }).toArray();
  expect(stored.map(({ _id }) => Number(_id))).toEqual(stored.map((_, index) => index + 1));
  expect(await (open() as EventStore).bounds()).toEqual({ first: 1, last: stored.length });
}

/** A kill before, after or in the middle of a write. `skip`: how many writes pass before it. */
interface Fault {
  at: 'insertMany' | 'updateOne';
  when: 'before' | 'after' | 'within';
  skip?: number;
}

const fault = fc.record<Fault>({
  at: fc.constantFrom('insertMany', 'updateOne'),
  when: fc.constantFrom('before', 'after', 'within'),
  skip: fc.nat({ max: 3 }),
});

/** The connection as a process uses it that is killed at the next of the faults. Nothing works afterwards. */
function killing(from: Connection, faults: Fault[]): Connection {
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    throw new Error('killed');
  };
  const write = async (name: Fault['at'], values: unknown[], run: (values: unknown[]) => Promise<unknown>) => {
    const [next] = faults;
    if (next?.at !== name) return run(values);
    if (next.skip) {
      next.skip -= 1;
      return run(values);
    }
    faults.shift();
    if (next.when === 'before') kill();
    if (next.when === 'after' || name !== 'insertMany') return run(values).then(kill);
    const documents = values[0] as unknown[];
    return run([documents.slice(0, Math.ceil(documents.length / 2))]).then(kill);
  };
  const collection = (name: string) =>
    new Proxy(from.collection(name), {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...values: unknown[]) => {
          if (isKilled) throw new Error('killed');
          const run = (given: unknown[]) => Reflect.apply(value, target, given);
          return key === 'insertMany' || key === 'updateOne' ? write(key, values, run) : run(values);
        };
      },
    });
  return { collection } as unknown as Connection;
}
