import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Bus, IncomingMessage, OutgoingMessage, RunningSubscription, Subscription } from '../src/bus/bus.ts';

/** A new topic on a bus, and how to publish and listen to it. */
interface TopicFixture {
  topic: string;
  publish(messages: readonly OutgoingMessage[], by?: Bus): Promise<void>;
  listen(options?: Partial<Subscription> & { by?: Bus }): Promise<Listener>;
}

interface Listener {
  group: string;
  got: IncomingMessage[];
  errors: unknown[];
  part: RunningSubscription;
}

const partitions = 4;
const message = (key: string, text: string, headers: Record<string, string> = {}): OutgoingMessage => ({
  key,
  value: Buffer.from(text),
  headers,
});
const toText = ({ value }: IncomingMessage) => Buffer.from(value).toString();
const numbered = (key: string, count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => message(key, `${key}:${from + index}`));
const keyed = (got: readonly IncomingMessage[], key: string) => got.filter((one) => one.key === key).map(toText);
const firsts = (texts: readonly string[]) => [...new Set(texts)];

/** The tests that every kind of bus must pass. `open` makes a separate connection, like that of another process. */
export function testBus(name: string, open: () => Promise<Bus>): void {
  describe(`a bus on ${name}`, () => {
    const opened: Bus[] = [];
    let bus: Bus;
    const openAnother = async () => {
      const made = await open();
      opened.push(made);
      return made;
    };
    beforeAll(async () => {
      bus = await openAnother();
    });
    afterAll(async () => {
      await Promise.all(opened.map((one) => one.close()));
    });

    async function setUpTopic(): Promise<TopicFixture> {
      const topic = `test.${randomUUID()}`;
      await bus.setUp([{ name: topic, partitions, retentionMs: 3_600_000 }]);
      return {
        topic,
        publish: (messages, by = bus) => by.publish(topic, messages),
        async listen({ by = bus, ...options } = {}) {
          const listener = { group: options.group ?? `group.${randomUUID()}`, got: [], errors: [] } as Omit<
            Listener,
            'part'
          >;
          const part = await by.subscribe({
            topics: [topic],
            onError: (error) => listener.errors.push(error),
            async handle(messages, { acknowledge }) {
              for (const one of messages) {
                listener.got.push(one);
                acknowledge(one);
              }
            },
            ...options,
            group: listener.group,
          });
          return Object.assign(listener, { part });
        },
      };
    }

    test('delivers every message to a group unchanged, those of a key in order', async () => {
      const { topic, publish, listen } = await setUpTopic();
      const keys = Array.from({ length: 20 }, (_, index) => `key ${index} ä`);
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
      await publish([{ key: 'bytes', value: bytes, headers: { ce_id: 'evt_1', traceparent: '00-ab-cd-01', ü: 'ö' } }]);
      await publish([]);
      for (let round = 0; round < 5; round++) await publish(keys.flatMap((key) => numbered(key, 4, round * 4 + 1)));
      const { got, part } = await listen();
      await expect.poll(() => got.length).toBeGreaterThanOrEqual(401);
      for (const key of keys) expect(keyed(got, key)).toEqual(numbered(key, 20).map(({ value }) => String(value)));
      const [first] = got.filter(({ key }) => key === 'bytes');
      expect([first?.topic, Buffer.from(first?.value ?? [])]).toEqual([topic, bytes]);
      expect(first?.headers).toEqual({ ce_id: 'evt_1', traceparent: '00-ab-cd-01', ü: 'ö' });
      expect(new Set(got.map(({ partition }) => partition)).size).toBeGreaterThan(1);
      for (const key of keys)
        expect(new Set(got.filter((one) => one.key === key).map((one) => one.partition)).size).toBe(1);
      for (const partition of [0, 1, 2, 3]) {
        const offsets = got.filter((one) => one.partition === partition).map(({ offset }) => Number(offset));
        expect(offsets).toEqual([...new Set(offsets)].sort((left, right) => left - right));
      }
      expect(got).toHaveLength(401);
      await part.stop();
    });

    test('delivers what is published later', async () => {
      const { publish, listen } = await setUpTopic();
      const { got, part } = await listen();
      await publish(numbered('a', 1));
      await expect.poll(() => got).toHaveLength(1);
      await publish(numbered('a', 1, 2));
      await expect.poll(() => got).toHaveLength(2);
      await part.stop();
    });

    test('delivers every message to every group', async () => {
      const { publish, listen } = await setUpTopic();
      const [left, right] = [await listen(), await listen()];
      await publish(numbered('a', 30));
      await expect.poll(() => [left.got.length, right.got.length]).toEqual([30, 30]);
      await Promise.all([left.part.stop(), right.part.stop()]);
    });

    test('delivers unacknowledged messages, and those after them, again in order', async () => {
      const { publish, listen } = await setUpTopic();
      const attempts = new Map<string, number>();
      const got: string[] = [];
      const { errors, part } = await listen({
        async handle(messages, { acknowledge }) {
          for (const one of messages) {
            const attempt = (attempts.get(toText(one)) ?? 0) + 1;
            attempts.set(toText(one), attempt);
            if (toText(one) === 'a:3' && attempt <= 2) throw new Error('not yet');
            got.push(toText(one));
            acknowledge(one);
          }
        },
      });
      await publish(numbered('a', 10));
      await expect.poll(() => got).toContain('a:10');
      expect(got).toEqual(numbered('a', 10).map(({ value }) => String(value)));
      expect(attempts.get('a:3')).toBe(3);
      expect(errors.map(String).filter((text) => text === 'Error: not yet')).toHaveLength(2);
      await part.stop();
    });

    test('a handler that fails in one partition does not delay the others', async () => {
      const { publish, listen } = await setUpTopic();
      const keys = Array.from({ length: 40 }, (_, index) => `k${index}`);
      const got: IncomingMessage[] = [];
      const { part } = await listen({
        async handle(messages, { acknowledge }) {
          for (const one of messages) {
            if (one.key === 'k0') throw new Error('never');
            got.push(one);
            acknowledge(one);
          }
        },
      });
      await publish(keys.flatMap((key) => numbered(key, 3)));
      await expect.poll(() => new Set(got.map(({ partition }) => partition)).size).toBe(partitions - 1);
      await part.stop();
    });

    test('continues after the last acknowledged message, in another process too', async () => {
      const { publish, listen } = await setUpTopic();
      const first = await listen();
      await publish(numbered('a', 10));
      await expect.poll(() => first.got).toHaveLength(10);
      await first.part.stop();
      await publish(numbered('a', 5, 11));
      const second = await listen({ group: first.group, by: await openAnother() });
      await expect.poll(() => second.got.map(toText)).toContain('a:15');
      // A message that it got too often came before the last one.
      await publish(numbered('a', 1, 16));
      await expect.poll(() => second.got.map(toText)).toContain('a:16');
      expect(second.got.map(toText)).toEqual(numbered('a', 6, 11).map(({ value }) => String(value)));
      expect(first.got).toHaveLength(10);
      await second.part.stop();
    });

    test('reports how many messages a group has not acknowledged', async () => {
      const { topic, publish, listen } = await setUpTopic();
      await publish([...numbered('a', 10), ...numbered('b', 5)]);
      const group = `group.${randomUUID()}`;
      expect(await bus.lag(group, [topic])).toBe(15);
      const { part, got } = await listen({ group });
      await expect.poll(() => got).toHaveLength(15);
      await expect.poll(() => part.lag()).toBe(0);
      await part.stop();
      expect(await bus.lag(group, [topic])).toBe(0);
      await publish(numbered('a', 3, 11));
      expect(await bus.lag(group, [topic])).toBe(3);
    });

    test('reports since when the oldest message waits that a group has not acknowledged', async () => {
      const { topic, publish, listen } = await setUpTopic();
      const group = `group.${randomUUID()}`;
      expect(await bus.oldestPending(group, [topic])).toBeUndefined();
      const waitsSince = async () => (await bus.oldestPending(group, [topic])) ?? Number.NaN;
      /** The latest time that may be reported as this one: a bus is too early by a second, or a tenth of the age. */
      const latestOf = (since: number) => since + Math.max(1_000, (Date.now() - since) / 10);
      const begunAt = Date.now();
      await publish(numbered('a', 3));
      const publishedAt = Date.now();
      const first = await waitsSince();
      expect(latestOf(first)).toBeGreaterThanOrEqual(begunAt);
      expect(first).toBeLessThanOrEqual(publishedAt);
      // A report of the next messages is then later than the first ones, although it is too early.
      vi.useFakeTimers({ toFake: ['Date'], now: publishedAt + 1_500, shouldAdvanceTime: true });
      onTestFinished(() => void vi.useRealTimers());
      const laterAt = Date.now();
      await publish([...numbered('a', 1, 4), ...numbered('b', 1)]);
      const laterPublishedAt = Date.now();
      expect(await waitsSince()).toBeLessThanOrEqual(publishedAt);
      const { part } = await listen({
        group,
        async handle(messages, { acknowledge }) {
          for (const one of messages) if (toText(one) !== 'a:4' && one.key === 'a') acknowledge(one);
        },
      });
      await expect.poll(waitsSince).toBeGreaterThan(publishedAt);
      const second = await waitsSince();
      expect(latestOf(second)).toBeGreaterThanOrEqual(laterAt);
      expect(second).toBeLessThanOrEqual(laterPublishedAt);
      await part.stop();
    });

    // guarantee: F10
    test('shares the partitions of a group; when a member stops, the others take over', async () => {
      const { publish, listen } = await setUpTopic();
      const left = await listen();
      const right = await listen({ group: left.group, by: await openAnother() });
      const keys = Array.from({ length: 40 }, (_, index) => `k${index}`);
      const all = () => [...left.got, ...right.got];
      let sent = 0;
      const publishMore = () => {
        sent += 1;
        void publish(keys.map((key) => message(key, `${key}:${sent}`)));
        return left.got.length > 0 && right.got.length > 0;
      };
      await expect.poll(publishMore).toBe(true);
      await left.part.stop();
      const before = left.got.length;
      await publish(keys.map((key) => message(key, `${key}:last`)));
      await expect.poll(() => keys.every((key) => keyed(all(), key).includes(`${key}:last`))).toBe(true);
      expect(left.got).toHaveLength(before);
      await right.part.stop();
    });

    // guarantee: F10
    test('handles nothing after it has stopped, and waits for the message that is being handled', async () => {
      const { publish, listen } = await setUpTopic();
      const released = Promise.withResolvers<void>();
      let handling = 0;
      let handled = 0;
      const { group, part } = await listen({
        async handle(messages, { acknowledge }) {
          for (const one of messages) {
            handling += 1;
            await released.promise;
            handling -= 1;
            handled += 1;
            acknowledge(one);
          }
        },
      });
      await publish(numbered('a', 5));
      await expect.poll(() => handling).toBe(1);
      const handledBefore = part.stop().then(() => handled);
      await publish(numbered('a', 5, 6));
      released.resolve();
      const before = await handledBefore;
      expect(before).toBeGreaterThan(0);
      expect(handling).toBe(0);
      const later = await listen({ group });
      await expect.poll(() => keyed(later.got, 'a')).toContain('a:10');
      expect(handled).toBe(before);
      // An acknowledgement during the stop is stored.
      expect(keyed(later.got, 'a')[0]).toBe(`a:${before + 1}`);
      await later.part.stop();
    });

    test('keeps the order of each publisher if many publish concurrently', async () => {
      const { publish, listen } = await setUpTopic();
      const publishers = [bus, await openAnother(), await openAnother()];
      await Promise.all(
        publishers.map(async (by, index) => {
          for (let round = 0; round < 10; round++) await publish(numbered(`p${index}`, 10, round * 10 + 1), by);
        }),
      );
      const { got, part } = await listen();
      await expect.poll(() => got.length).toBeGreaterThanOrEqual(300);
      for (const index of publishers.keys()) {
        const key = `p${index}`;
        expect(firsts(keyed(got, key))).toEqual(numbered(key, 100).map(({ value }) => String(value)));
      }
      await part.stop();
    });

    test('accepts messages of half a megabyte, and thousands at a time', async () => {
      const { publish, listen } = await setUpTopic();
      const large = 'x'.repeat(500_000);
      await publish([message('a', `${large}1`), message('a', `${large}2`), message('a', `${large}3`)]);
      await publish(numbered('b', 3000));
      const { got, part } = await listen();
      await expect.poll(() => got.length).toBeGreaterThanOrEqual(3003);
      expect(keyed(got, 'a')).toEqual([`${large}1`, `${large}2`, `${large}3`]);
      expect(keyed(got, 'b')).toHaveLength(3000);
      await part.stop();
    });

    test('does not create topics that were not set up, and does not change existing ones', async () => {
      const { topic, publish, listen } = await setUpTopic();
      const missing = `missing.${randomUUID()}`;
      for (let attempt = 0; attempt < 2; attempt++) {
        await expect(bus.publish(missing, numbered('a', 1))).rejects.toMatchObject({
          code: 'unavailable',
          reason: 'unknown_topic',
        });
      }
      await publish(numbered('a', 3));
      await bus.setUp([{ name: topic, partitions, retentionMs: 3_600_000 }]);
      const { got, part } = await listen();
      await expect.poll(() => got).toHaveLength(3);
      await part.stop();
      await bus.check();
    });
  });
}
