import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import mongoose, { type Connection } from 'mongoose';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Bus, IncomingMessage, Subscription } from '../src/bus/bus.ts';
import { embeddedLog } from '../src/bus/embedded-log/embedded-log.ts';
import { eventMessage } from '../src/bus/envelope.ts';
import { type Consumer, startConsumer } from '../src/consumer/consumer.ts';
import type { HandleEvents } from '../src/consumer/event-handler.ts';
import { measureGroup } from '../src/consumer/group-metrics.ts';
import { messageHandler } from '../src/consumer/message-handler.ts';
import { replayKey } from '../src/consumer/replay-key.ts';
import { buildDeadLetterIndex, type DeadLetters, openDeadLetters } from '../src/dead-letters/dead-letters.ts';

const log = createLogger('test', 'silent');
const consumers: Consumer[] = [];
let connection: Connection;
let bus: Bus;
let deadLetters: DeadLetters;

beforeAll(async () => {
  const dbName = `test_${randomUUID().slice(0, 8)}`;
  connection = await mongoose.createConnection(inject('mongodbUri'), { dbName }).asPromise();
  bus = embeddedLog({ id: randomUUID(), connection, opened: Promise.resolve() });
  deadLetters = openDeadLetters(connection);
  await buildDeadLetterIndex(connection);
});
afterAll(async () => {
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  await bus.close();
  await connection.dropDatabase();
  await connection.close();
});

async function setUpConsumer(handle: HandleEvents, options: { handlerTimeoutMs?: number } = {}) {
  const topic = `test.${randomUUID()}`;
  const group = `group.${randomUUID()}`;
  await bus.setUp([{ name: topic, partitions: 2, retentionMs: 3_600_000 }]);
  const common = { bus, deadLetters, group, topics: [topic], handle, log, ...options };
  let count = 0;
  return {
    topic,
    group,
    common,
    start() {
      const consumer = startConsumer({ ...common, checkEveryMs: 200 });
      consumers.push(consumer);
      return consumer;
    },
    publish: (...keys: string[]) =>
      bus.publish(
        topic,
        keys.map((key) => {
          count += 1;
          const traceparent = `00-${'a'.repeat(30)}${String(count).padStart(2, '0')}-${'b'.repeat(16)}-01`;
          const envelope = {
            id: `evt_${count}`,
            type: 't',
            source: 's',
            subject: key,
            time: 1_700_000_000,
            traceparent,
          };
          return eventMessage(key, envelope, Buffer.from(String(count)));
        }),
      ),
    deadLettered: async () =>
      (await deadLetters.list(100))
        .filter((one) => one.group === group)
        .map(({ key, value }) => `${key}${Buffer.from(value)}`),
  };
}

// guarantee: E6
test('E6: an event that cannot be handled blocks its key only, is visible, and can be replayed in order', async () => {
  const handled: string[] = [];
  let isCured = false;
  const { start, publish, deadLettered, common, topic, group } = await setUpConsumer(async (events) => {
    for (const { key, value } of events) {
      if (key === 'b' && String(Buffer.from(value)) === '3' && !isCured) throw new TypeError('no such field');
    }
    handled.push(...events.map(({ key, value }) => `${key}${Buffer.from(value)}`));
  });
  start();
  await publish('a', 'b', 'b', 'b', 'a', 'c');
  await expect.poll(() => [...new Set(handled)].sort()).toEqual(['a1', 'a5', 'b2', 'c6']);
  await expect.poll(deadLettered).toEqual(['b3', 'b4']);
  await publish('b', 'a');
  await expect.poll(deadLettered).toEqual(['b3', 'b4', 'b7']);
  await expect.poll(() => handled.includes('a8')).toBe(true);
  const [first, second] = (await deadLetters.list(100)).filter((one) => one.group === group);
  expect([first?.reason, second?.reason]).toEqual([
    'no such field',
    'an earlier event of the same key is dead-lettered',
  ]);
  const registry = new Registry();
  measureGroup(common, registry);
  expect(await registry.metrics()).toMatch(/^consumer_blocked_keys\{.*\} 1$/m);
  await expect(replayKey(common, topic, 'b', new AbortController().signal)).rejects.toThrow('no such field');
  isCured = true;
  expect(await replayKey(common, topic, 'b', new AbortController().signal)).toBe(3);
  expect(await deadLettered()).toEqual([]);
  await publish('b');
  await expect.poll(() => handled.filter((one) => one.startsWith('b')).slice(-4)).toEqual(['b3', 'b4', 'b7', 'b9']);
  expect(await registry.metrics()).toMatch(/^consumer_blocked_keys\{.*\} 0$/m);
});

test('a dead-lettered event that is delivered again delays no other event', async () => {
  const handled: string[] = [];
  const { publish, deadLettered, common, topic, group } = await setUpConsumer(async (events) => {
    if (events.some(({ key }) => key === 'b')) throw new TypeError('poison');
    handled.push(...events.map(({ key }) => key));
  });
  await publish('a', 'b', 'b', 'c');
  const messages = toMessages(topic, 'abbc');
  const handle = messageHandler(common);
  const { signal } = new AbortController();
  for (let delivery = 0; delivery < 2; delivery++) {
    for (let failures = 0; ; failures++) {
      expect(failures).toBeLessThan(5);
      if (
        await handle(messages, signal).then(
          () => true,
          () => false,
        )
      )
        break;
    }
    expect(await deadLettered()).toEqual(['b1', 'b2']);
  }
  expect(new Set(handled)).toEqual(new Set(['a', 'c']));
  expect(await deadLetters.countBlockedKeys(group)).toBe(1);
});

/** The messages of a partition, one of each key. */
function toMessages(topic: string, keys: string): IncomingMessage[] {
  return [...keys].map((key, index) => {
    const envelope = { id: `evt_${index}`, type: 't', source: 's', subject: key, time: 0 };
    const offset = String(key.charCodeAt(0) * 10 + index);
    return { ...eventMessage(key, envelope, Buffer.from(String(index))), topic, partition: 0, offset };
  });
}

/** Sets up a handler that is late with some keys, and a function that delivers messages to it. */
async function setUpLateHandler(keys: string) {
  let late = '';
  let broken = '';
  const handled = new Set<string>();
  const calls: string[] = [];
  const { common, topic, deadLettered } = await setUpConsumer(async (events) => {
    calls.push(events.map(({ key }) => key).join(''));
    if (events.some(({ key }) => broken.includes(key))) throw new TypeError('no such field');
    if (events.some(({ key }) => late.includes(key))) throw new DomainError('deadline_exceeded', 'timeout', 'late');
    for (const { key } of events) handled.add(key);
  });
  const handle = messageHandler(common);
  const { signal } = new AbortController();
  return {
    ...{ handled, calls, deadLettered, common, topic },
    /** Delivers messages of these keys until all are handled or dead-lettered, at most `maxDeliveries` times. */
    async deliver(lateKeys: string, maxDeliveries: number, delivered = keys, brokenKeys = '') {
      late = lateKeys;
      broken = brokenKeys;
      for (let delivery = 1; delivery <= maxDeliveries; delivery++) {
        const isDone = await handle(toMessages(topic, delivered), signal).then(
          () => true,
          () => false,
        );
        if (isDone) return true;
      }
      return false;
    },
  };
}

// guarantee: E6
test('an event that is always late is dead-lettered, while those of other keys are handled', async () => {
  const { deliver, handled, deadLettered } = await setUpLateHandler('abcdef');
  expect(await deliver('abc', 20)).toBe(true);
  expect(await deadLettered()).toEqual(['a0', 'b1', 'c2']);
  expect(handled).toEqual(new Set('def'));
});

test('while the handler is late with all events, none is dead-lettered, and a delivery ends soon', async () => {
  const { deliver, handled, deadLettered, calls } = await setUpLateHandler('abcdef');
  expect(await deliver('abcdef', 20)).toBe(false);
  // One call for all keys, then one call for each of two keys.
  expect(calls.length).toBeLessThanOrEqual(20 * 3);
  // Events that are handled in other deliveries do not count as evidence for these.
  for (let times = 0; times < 5; times++) {
    expect(await deliver('', 1, 'z')).toBe(true);
    expect(await deliver('abcdef', 1)).toBe(false);
  }
  expect(await deadLettered()).toEqual([]);
  expect(await deliver('', 1)).toBe(true);
  expect(handled).toEqual(new Set('abcdefz'));
});

test('one delivery dead-letters at most two late events', async () => {
  const { deliver, deadLettered } = await setUpLateHandler('abcdef');
  expect(await deliver('abcdef', 10)).toBe(false);
  for (let times = 0; times < 3; times++) await deliver('abcde', 1);
  const before = (await deadLettered()).length;
  await deliver('abcde', 1);
  expect((await deadLettered()).length - before).toBeLessThanOrEqual(2);
});

test('a late event that is the only one is dead-lettered as soon as others are delivered with it', async () => {
  const { deliver, deadLettered } = await setUpLateHandler('a');
  expect(await deliver('a', 20)).toBe(false);
  expect(await deadLettered()).toEqual([]);
  expect(await deliver('a', 20, 'ab')).toBe(true);
  expect(await deadLettered()).toEqual(['a0']);
});

test('an error after a time in which all events were late does not dead-letter any', async () => {
  const { deliver, deadLettered } = await setUpLateHandler('ab');
  expect(await deliver('ab', 10)).toBe(false);
  expect(await deliver('', 2, 'ab', 'ab')).toBe(false);
  expect(await deadLettered()).toEqual([]);
  expect(await deliver('', 1)).toBe(true);
});

test('an event that is late when it is replayed stays dead-lettered, and delays no other event', async () => {
  const { deliver, deadLettered, common, topic } = await setUpLateHandler('ab');
  await deadLetters.add(common.group, toMessages(topic, 'a'), 'test');
  expect(await deliver('a', 1)).toBe(true);
  expect(await deadLettered()).toEqual(['a0']);
});

test('an event that arrives while its key is being replayed is handled too, whichever ends first', async () => {
  const handled: string[] = [];
  const { start, publish, deadLettered, common, topic, group } = await setUpConsumer(async (events) => {
    handled.push(...events.map(({ value }) => String(Buffer.from(value))));
  });
  await publish('a');
  const message = { topic, partition: 0, offset: '0', key: 'a', value: Buffer.from('0'), headers: {} };
  await deadLetters.add(group, [message], 'test');
  // The consumer has read that the key is blocked; the replay ends before the consumer adds a dead letter.
  const racing: DeadLetters = {
    ...deadLetters,
    async add(...given) {
      for (const { id } of await deadLetters.list(100)) await deadLetters.remove(id);
      await deadLetters.add(...given);
    },
  };
  const consumer = startConsumer({ ...common, deadLetters: racing });
  consumers.push(consumer);
  await expect.poll(() => handled).toEqual(['1']);
  await expect.poll(deadLettered).toEqual([]);
  await consumer.stop();
  start();
});

test('while something that a handler needs is unavailable, events are delivered again and none is dead-lettered', async () => {
  let isDown = true;
  const handled: string[] = [];
  const { start, publish, deadLettered } = await setUpConsumer(async (events) => {
    if (isDown) throw new DomainError('unavailable', 'store_unavailable', 'down');
    handled.push(...events.map(({ value }) => String(Buffer.from(value))));
  });
  const consumer = start();
  await publish('a', 'a', 'a');
  await expect.poll(() => consumer.state().lagMessages).toBe(3);
  isDown = false;
  await expect.poll(() => handled).toEqual(['1', '2', '3']);
  expect(await deadLettered()).toEqual([]);
  await expect.poll(() => consumer.state()).toMatchObject({ lagMessages: 0 });
});

test('an outage of the bus is logged once a minute for each reason, and not with each attempt', async () => {
  const lines: Record<string, unknown>[] = [];
  const recording = createLogger('test', 'warn', { write: (line) => void lines.push(JSON.parse(line)) });
  const reasons = ['connect ECONNREFUSED', 'connect ECONNREFUSED', 'No broker available', 'connect ECONNREFUSED'];
  const broken: Bus = {
    ...bus,
    async subscribe({ onError }) {
      for (const reason of reasons) onError(new Error(reason));
      return { lag: async () => 0, stop: () => Promise.resolve() };
    },
  };
  const handle = async () => undefined;
  consumers.push(startConsumer({ bus: broken, deadLetters, group: 'broken', topics: ['t'], handle, log: recording }));
  await expect
    .poll(() => lines.map(({ err }) => (err as Error).message))
    .toEqual(['connect ECONNREFUSED', 'No broker available']);
});

test('the lag of a group is measured while none of its consumers runs, and grows', async () => {
  const { start, publish, common, group } = await setUpConsumer(async () => undefined);
  const registry = new Registry();
  measureGroup(common, registry);
  const measured = async (name: string) =>
    Number(new RegExp(`^${name}\\{group="${group}"\\} (\\S+)$`, 'm').exec(await registry.metrics())?.[1]);
  await publish('a', 'b', 'a');
  expect(await measured('consumer_lag_messages')).toBe(3);
  await expect.poll(() => measured('consumer_lag_seconds')).toBeGreaterThan(1);
  start();
  await expect.poll(() => measured('consumer_lag_messages')).toBe(0);
  expect(await measured('consumer_lag_seconds')).toBe(0);
});

test('a bus that does not respond is not measured, and delays the metrics for a moment only', async () => {
  const registry = new Registry();
  const silent = { lag: () => new Promise<number>(() => undefined), oldestPending: () => Promise.reject(new Error()) };
  measureGroup({ bus: silent, group: 'silent', topics: [], deadLetters }, registry);
  const samples = (await registry.metrics()).match(/^\w+(?=\{)/gm);
  expect(samples).toEqual(['consumer_blocked_keys']);
});

test('an event that fails once or twice and then succeeds is not dead-lettered', async () => {
  let failures = 0;
  const handled: string[] = [];
  const { start, publish, deadLettered } = await setUpConsumer(async (events) => {
    failures += 1;
    if (failures < 3) throw new TypeError('temporary failure');
    handled.push(...events.map(({ value }) => String(Buffer.from(value))));
  });
  start();
  await publish('a', 'a');
  await expect.poll(() => handled).toEqual(['1', '2']);
  expect(await deadLettered()).toEqual([]);
});

test('an event whose handler never returns is dead-lettered, while others are handled', async () => {
  const handled: string[] = [];
  const { start, publish, deadLettered } = await setUpConsumer(
    async (events, { signal }) => {
      if (events.some(({ key }) => key === 'a')) await once(signal, 'abort');
      signal.throwIfAborted();
      handled.push(...events.map(({ key }) => key));
    },
    { handlerTimeoutMs: 50 },
  );
  start();
  // Some of them share the partition of the first.
  const others = [...'bcdefghi'];
  await publish('a', ...others);
  await expect.poll(deadLettered).toEqual(['a1']);
  await expect.poll(() => new Set(handled)).toEqual(new Set(others));
});

test('a message that is not an event is dead-lettered', async () => {
  const { start, deadLettered, topic } = await setUpConsumer(async () => undefined);
  start();
  await bus.publish(topic, [{ key: 'x', value: Buffer.from('y'), headers: {} }]);
  await expect.poll(deadLettered).toEqual(['xy']);
});

// guarantee: S6
test('a handler continues the trace of the request', async () => {
  const traces: string[] = [];
  const { start, publish } = await setUpConsumer(async (_events, { trace }) => {
    traces.push(trace.traceId);
  });
  start();
  await publish('a');
  await expect.poll(() => traces).toEqual([`${'a'.repeat(30)}01`]);
});

// guarantee: E10
test('E10: a consumer that receives nothing while messages wait is restarted', async () => {
  const subscriptions: Subscription[] = [];
  let stopped = 0;
  let waiting = 5;
  let looks = 0;
  const stalled: Bus = {
    ...bus,
    async subscribe(subscription) {
      subscriptions.push(subscription);
      return {
        lag: async () => {
          looks += 1;
          return waiting;
        },
        // A stalled client may also fail to stop.
        stop: () => (++stopped === 1 ? new Promise(() => undefined) : Promise.resolve()),
      };
    },
  };
  const consumer = startConsumer({
    ...{ bus: stalled, deadLetters: deadLetters, group: 'stuck', topics: ['t'], handle: async () => undefined, log },
    ...{ stuckAfterMs: 300, checkEveryMs: 50, stopTimeoutMs: 200 },
  });
  await expect.poll(() => consumer.state().restarts).toBe(1);
  await expect.poll(() => subscriptions.length).toBe(2);
  waiting = 0;
  // More than pass until a consumer counts as stuck.
  const before = looks;
  await expect.poll(() => looks).toBeGreaterThan(before + 12);
  expect(consumer.state().restarts).toBe(1);
  await consumer.stop();
});
