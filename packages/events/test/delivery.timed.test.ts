import { randomUUID } from 'node:crypto';
import { createLogger } from '@ticketing/runtime/logger.ts';
import mongoose from 'mongoose';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { Bus, OutgoingMessage } from '../src/bus/bus.ts';
import { embeddedLog } from '../src/bus/embedded-log/embedded-log.ts';
import { kafkaBus } from '../src/bus/kafka-bus.ts';

const brokers = inject('kafkaBrokers');

async function openLog(): Promise<Bus> {
  const dbName = `test_${randomUUID().slice(0, 8)}`;
  const connection = await mongoose.createConnection(inject('mongodbUri'), { dbName }).asPromise();
  onTestFinished(async () => {
    await connection.dropDatabase();
    await connection.close();
  });
  return embeddedLog({ id: dbName, connection, opened: Promise.resolve() });
}
const openKafka = async () =>
  kafkaBus({ brokers, clientId: 'test', prefix: 'test.', log: createLogger('test', 'silent') });

const buses = [
  { name: 'the embedded log', open: openLog },
  ...(brokers.length > 0 ? [{ name: 'Kafka', open: openKafka }] : []),
];

test.each(buses)('$name delivers what is published later, within a second', async ({ open }) => {
  const bus = await open();
  onTestFinished(() => bus.close());
  const topic = `test.${randomUUID()}`;
  await bus.setUp([{ name: topic, partitions: 4, retentionMs: 3_600_000 }]);
  const got: string[] = [];
  await bus.subscribe({
    group: `group.${randomUUID()}`,
    topics: [topic],
    onError: () => undefined,
    async handle(messages, { acknowledge }) {
      for (const one of messages) {
        got.push(Buffer.from(one.value).toString());
        acknowledge(one);
      }
    },
  });
  const message = (text: string): OutgoingMessage => ({ key: 'a', value: Buffer.from(text), headers: {} });
  await bus.publish(topic, [message('first')]);
  await expect.poll(() => got).toEqual(['first']);
  const startedAt = performance.now();
  await bus.publish(topic, [message('second')]);
  await expect.poll(() => got, { interval: 10 }).toEqual(['first', 'second']);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});
