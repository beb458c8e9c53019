import { randomUUID } from 'node:crypto';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { turns } from '@ticketing/testkit/turns.ts';
import fc from 'fast-check';
import mongoose, { type Connection } from 'mongoose';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { OutgoingMessage } from '../src/bus/bus.ts';
import { firstInOutbox, type Outbox, openOutbox, outboxPush, rangeCount } from '../src/outbox/outbox.ts';
import { type Relay, type RelayOptions, startRelay } from '../src/outbox/relay.ts';
import { measureOutboxes } from '../src/outbox/relay-metrics.ts';

interface Event {
  version: number;
  unwritable?: boolean;
}

const prefix = `test_${randomUUID().slice(0, 8)}`;
const log = createLogger('test', 'silent');
const connections: Connection[] = [];
const relays: Relay[] = [];
let store: Connection;

/** Connects to a new database. Relays with leases in different databases work independently of each other. */
async function connect(suffix: string): Promise<Connection> {
  const connection = await mongoose.createConnection(inject('mongodbUri'), { dbName: prefix + suffix }).asPromise();
  connections.push(connection);
  return connection;
}

beforeAll(async () => {
  store = await connect('store');
});
afterAll(async () => {
  await Promise.all(relays.map((relay) => relay.stop()));
  for (const connection of connections) {
    await connection.dropDatabase();
    await connection.close();
  }
});

/** Documents with outboxes, and a bus that records the messages sent to it. */
async function setUpOutbox() {
  const name = `things ${randomUUID()}`;
  const things = store.collection<{ _id: number; version: number; outbox: Event[] }>(name);
  const outbox = openOutbox<Event>(things as never, {
    name,
    topic: 'things',
    toMessage(id, { version, unwritable }) {
      if (unwritable) throw new Error('it cannot be written');
      return { key: String(id), value: Buffer.from(String(version)), headers: {} };
    },
  });
  const published: OutgoingMessage[] = [];
  const bus = {
    async publish(_topic: string, messages: readonly OutgoingMessage[]) {
      published.push(...messages);
    },
  };
  return {
    things,
    outbox,
    published,
    bus,
    async create(id: number) {
      await things.insertOne({ _id: id, version: 1, ...firstInOutbox({ version: 1 }) });
    },
    async change(id: number, event: Partial<Event> = {}) {
      const thing = await things.findOne({ _id: id });
      const version = (thing?.version ?? 0) + 1;
      await things.updateOne({ _id: id, version: version - 1 }, {
        $set: { version },
        ...outboxPush({ version, ...event }),
      } as never);
    },
    listVersions: (id: number) => published.filter(({ key }) => key === String(id)).map(({ value }) => Number(value)),
    async drained() {
      await expect
        .poll(() => outbox.state(), { interval: 20 })
        .toEqual({ events: 0, oldestAt: undefined, undeliverable: 0 });
    },
  };
}

function relay(
  outbox: Outbox | readonly Outbox[],
  bus: RelayOptions['bus'],
  leases: Connection,
  pollMs?: RelayOptions['pollMs'],
): Relay {
  const database = { connection: leases, opened: Promise.resolve() };
  const quick = { gatherMs: 10, leaseTimes: { durationMs: 9_000, renewMs: 200, waitMs: 50 } };
  const started = startRelay({
    database,
    outboxes: [outbox].flat(),
    bus,
    log,
    ...quick,
    ...(pollMs ? { pollMs } : {}),
  });
  relays.push(started);
  return started;
}

/** Expects each version once and in order, apart from duplicates. */
function expectComplete(versions: readonly number[], count: number): void {
  expect([...new Set(versions)]).toEqual(Array.from({ length: count }, (_, index) => index + 1));
}

test('sends the events of the outboxes in the order of the versions, and removes them', async () => {
  const { things, outbox, bus, create, change, listVersions, drained } = await setUpOutbox();
  for (let id = 1; id <= 20; id++) {
    await create(id);
    for (let count = 1; count < id; count++) await change(id);
  }
  relay(outbox, bus, await connect('plain'));
  await drained();
  for (let id = 1; id <= 20; id++)
    expect(listVersions(id)).toEqual(Array.from({ length: id }, (_, index) => index + 1));
  expect(await things.findOne({ _id: 20 })).toEqual({ _id: 20, version: 20, outbox: [] });
});

test('sends a long outbox in several rounds', async () => {
  const { things, outbox, bus, listVersions, drained } = await setUpOutbox();
  const events = Array.from({ length: 750 }, (_, index) => ({ version: index + 1 }));
  await things.insertOne({ _id: 1, version: 750, outbox: events, outboxSince: new Date() } as never);
  relay(outbox, bus, await connect('long'));
  await drained();
  expect(listVersions(1)).toEqual(events.map(({ version }) => version));
});

test('removes the sent events of many documents, and leaves those that were added meanwhile', async () => {
  const { outbox, things, create, change } = await setUpOutbox();
  const ids = Array.from({ length: 300 }, (_, index) => index + 1);
  await Promise.all(ids.map(create));
  const all = Array.from({ length: rangeCount }, (_, range) => range);
  const pending = await outbox.pending(all, 500);
  expect(pending).toHaveLength(300);
  await Promise.all(ids.filter((id) => id % 3 === 0).map((id) => change(id)));
  await outbox.remove(pending);
  const left = await things.find({ 'outbox.0': { $exists: true } }).toArray();
  expect(left).toHaveLength(100);
  for (const { _id, outbox: events } of left) expect([_id % 3, events]).toEqual([0, [{ version: 2 }]]);
  expect(await things.countDocuments({ outboxSince: { $exists: true } })).toBe(100);
});

test('sends when it is woken, even if it polls rarely', async () => {
  const { outbox, bus, create, change, published, drained } = await setUpOutbox();
  const { wake } = relay(outbox, bus, await connect('woken'), { busy: 600_000, idle: 600_000 });
  await create(1);
  // It looks once when it has claimed its ranges, and each time that it is woken.
  const attempts = setInterval(wake, 100);
  await drained();
  clearInterval(attempts);
  await change(1);
  wake();
  await expect.poll(() => published.length, { interval: 2 }).toBe(2);
});

test('finds events that other processes add', async () => {
  const { outbox, bus, create, change, published, drained } = await setUpOutbox();
  relay(outbox, bus, await connect('found'));
  await create(1);
  await drained();
  await change(1);
  await expect.poll(() => published.length).toBe(2);
});

// guarantee: F7
test('while the bus is unavailable, events wait, are measured, and are sent in order afterwards', async () => {
  const { things, outbox, bus, create, change, listVersions, drained } = await setUpOutbox();
  let isDown = true;
  const registry = new Registry();
  measureOutboxes([outbox], registry);
  relay(
    outbox,
    {
      async publish(topic, messages) {
        if (isDown) throw new DomainError('unavailable', 'bus_unavailable', 'down');
        await bus.publish(topic, messages);
      },
    },
    await connect('down'),
  );
  await create(1);
  for (let count = 0; count < 4; count++) await change(1);
  await things.updateOne({ _id: 1 }, { $set: { outboxSince: new Date(Date.now() - 5_000) } } as never);
  const metrics = await registry.metrics();
  expect(metrics).toMatch(/^outbox_pending\{.*\} 5$/m);
  expect(Number(/^outbox_oldest_age_seconds\{.*\} (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(1);
  isDown = false;
  await drained();
  expect(listVersions(1)).toEqual([1, 2, 3, 4, 5]);
});

test('a document whose events cannot be sent is reported, is tried again, and does not delay others', async () => {
  const { things, outbox, bus, create, change, listVersions } = await setUpOutbox();
  for (const id of [1, 2, 3, 4]) await create(id);
  await change(2, { unwritable: true });
  const registry = new Registry();
  measureOutboxes([outbox], registry);
  const sent = relay(
    outbox,
    {
      async publish(topic, messages) {
        if (messages.some(({ key }) => key === '3')) throw new Error('too large');
        await bus.publish(topic, messages);
      },
    },
    await connect('poison'),
  );
  await expect.poll(() => [listVersions(1), listVersions(4)]).toEqual([[1], [1]]);
  await expect.poll(() => registry.metrics()).toMatch(/^outbox_undeliverable\{.*\} 2$/m);
  expect((await things.findOne({ _id: 2 })) as object).toMatchObject({
    unsent: { reason: 'it cannot be written', attempts: 1 },
  });
  expect((await things.findOne({ _id: 3 })) as object).toMatchObject({ unsent: { reason: 'too large', attempts: 1 } });
  await sent.stop();
  expect((await outbox.undeliverable(10)).map(({ id }) => id).sort()).toEqual([2, 3]);
  await outbox.retryUndeliverable();
  await things.updateMany({}, { $set: { outbox: [{ version: 1 }], version: 1 } });
  await things.updateMany({ _id: { $in: [1, 4] } }, { $set: { outbox: [] } });
  relay(outbox, bus, await connect('cured'));
  await expect.poll(async () => (await outbox.state()).undeliverable).toBe(0);
  expect([listVersions(2), listVersions(3)]).toEqual([[1], [1]]);
});

test('an outbox whose events are refused does not delay the others', async () => {
  const [refused, other] = [await setUpOutbox(), await setUpOutbox()];
  let attempts = 0;
  const bus: RelayOptions['bus'] = {
    async publish(topic, messages) {
      if (topic !== 'refused') return other.bus.publish(topic, messages);
      attempts += 1;
      throw new DomainError('unavailable', 'bus_unavailable', 'refused');
    },
  };
  await refused.create(1);
  const pollMs = { busy: 50, idle: 50 };
  relay([{ ...refused.outbox, topic: 'refused' }, other.outbox], bus, await connect('refused'), pollMs);
  await expect.poll(() => attempts).toBeGreaterThan(2);
  const before = attempts;
  for (let id = 1; id <= 6; id++) {
    await other.create(id);
    await other.drained();
  }
  // If they waited for each other, each of these events would wait for another attempt.
  expect(attempts - before).toBeLessThan(6);
  expect(await refused.outbox.state()).toMatchObject({ events: 1 });
});

// guarantee: F36
test('several relays share the ranges, and each sends in order', async () => {
  const { outbox, bus, create, change, listVersions, drained } = await setUpOutbox();
  const leases = await connect('shared');
  const ranges: (readonly number[])[] = [];
  const watched = {
    ...outbox,
    pending: (owned: readonly number[], limit: number) => {
      ranges.push(owned);
      return outbox.pending(owned, limit);
    },
  };
  const both = [relay(watched, bus, leases), relay(watched, bus, leases)];
  let other = 1000;
  const isShared = async () => {
    // A relay reads an outbox only if it has unsent events.
    await create(other++);
    return ranges.some((owned) => owned.length === rangeCount / 2);
  };
  await expect.poll(isShared).toBe(true);
  for (let id = 1; id <= 40; id++) await create(id);
  for (let round = 0; round < 5; round++) for (let id = 1; id <= 40; id++) await change(id);
  await drained();
  for (let id = 1; id <= 40; id++) expect(listVersions(id)).toEqual([1, 2, 3, 4, 5, 6]);
  await Promise.all(both.map((one) => one.stop()));
});

// guarantee: E3, E5
test('E1, E3, E5: two relays that both own all ranges lose no event and keep the order', async () => {
  const leases = [await connect('one'), await connect('two')];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 5, maxLength: 40 }),
      fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 8, maxLength: 8 }),
      async (changes, delays) => {
        const { outbox, bus, create, change, listVersions, drained } = await setUpOutbox();
        for (const id of [1, 2, 3, 4]) await create(id);
        let calls = 0;
        // Each step of each relay takes a random number of turns, so that one removes events that the other is still sending.
        const slow = async <Result>(work: () => Promise<Result>) => {
          await turns(50 * (delays[calls++ % delays.length] ?? 0));
          return work();
        };
        const slowly: Outbox = {
          ...outbox,
          pending: (ranges, limit) => slow(() => outbox.pending(ranges, limit)),
          remove: (sent) => slow(() => outbox.remove(sent)),
        };
        const both = leases.map((connection) =>
          relay(slowly, { publish: (topic, messages) => slow(() => bus.publish(topic, messages)) }, connection),
        );
        for (const id of changes) await change(id);
        await drained();
        await Promise.all(both.map((one) => one.stop()));
        for (const id of [1, 2, 3, 4]) expectComplete(listVersions(id), 1 + changes.filter((one) => one === id).length);
      },
    ),
    { numRuns: runs(3, 120) },
  );
});

// guarantee: E1, E2
test('E1, E2, E3: whichever call fails, before or after its effect, no event is lost, invented or out of order', async () => {
  const leases = await connect('failing');
  for (let nth = 1, isOver = false; !isOver; nth++) {
    for (const when of ['before', 'after'] as const) {
      const { outbox, bus, create, change, listVersions, drained } = await setUpOutbox();
      let calls = 0;
      const failing = async <Result>(work: () => Promise<Result>) => {
        const fails = ++calls === nth;
        if (fails && when === 'before') throw new DomainError('unavailable', 'test', 'before');
        const result = await work();
        if (fails) throw new DomainError('unavailable', 'test', 'after');
        return result;
      };
      for (const id of [1, 2]) await create(id);
      await change(1);
      const fallible: Outbox = {
        ...outbox,
        pending: (ranges, limit) => failing(() => outbox.pending(ranges, limit)),
        remove: (sent) => failing(() => outbox.remove(sent)),
      };
      const one = relay(
        fallible,
        { publish: (topic, messages) => failing(() => bus.publish(topic, messages)) },
        leases,
      );
      await expect.poll(() => listVersions(1).length).toBeGreaterThan(0);
      await change(1);
      await change(2);
      await drained();
      const callsToDrain = calls;
      await one.stop();
      expectComplete(listVersions(1), 3);
      expectComplete(listVersions(2), 2);
      if (nth > callsToDrain) isOver = true;
    }
    if (nth >= runs(3, 12)) isOver = true;
  }
});
