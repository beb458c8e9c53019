import { randomUUID } from 'node:crypto';
import mongoose, { type Connection } from 'mongoose';
import { afterAll, expect, inject, test } from 'vitest';
import type { Subscription } from '../src/bus/bus.ts';
import { embeddedLog } from '../src/bus/embedded-log/embedded-log.ts';
import { testBus } from './bus-contract.ts';

const dbName = `test_${randomUUID().slice(0, 8)}`;
const connections: Connection[] = [];

const opened = Promise.resolve();

async function connect(): Promise<Connection> {
  const connection = await mongoose.createConnection(inject('mongodbUri'), { dbName }).asPromise();
  connections.push(connection);
  return connection;
}

afterAll(async () => {
  await connections[0]?.dropDatabase();
  await Promise.all(connections.map((connection) => connection.close()));
});

const fastRebalance = { durationMs: 9_000, renewMs: 300, waitMs: 50 };
testBus('the embedded log', async () =>
  embeddedLog({ id: dbName, connection: await connect(), opened }, fastRebalance),
);

test('the partitions of a member that died are taken over when its lease has expired', async () => {
  const topic = `test.${randomUUID()}`;
  const shortLease = { durationMs: 1_500, renewMs: 300, waitMs: 50 };
  const survivor = embeddedLog({ id: dbName, connection: await connect(), opened }, shortLease);
  await survivor.setUp([{ name: topic, partitions: 2, retentionMs: 1000 }]);
  const lost = await connect();
  const victim = embeddedLog({ id: 'lost', connection: lost, opened }, shortLease);
  const got: string[] = [];
  const subscription = (who: string): Subscription => ({
    group: 'g',
    topics: [topic],
    onError: () => undefined,
    async handle(messages, delivery) {
      for (const message of messages) {
        got.push(`${who} ${message.key}`);
        // The victim dies before it acknowledges anything.
        if (who === 'survivor') delivery.acknowledge(message);
      }
      if (who === 'victim') await new Promise(() => undefined);
    },
  });
  void victim.subscribe(subscription('victim'));
  await survivor.publish(
    topic,
    ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => ({ key, value: Buffer.from(key), headers: {} })),
  );
  await expect.poll(() => got.some((line) => line.startsWith('victim'))).toBe(true);
  await lost.close();
  await survivor.subscribe(subscription('survivor'));
  const seen = () => new Set(got.filter((line) => line.startsWith('survivor')));
  await expect.poll(() => [...seen()].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => `survivor ${key}`));
  await survivor.close();
});

test('messages older than the retention of their topic are removed, except the last chunk of a partition', async () => {
  const topic = `test.${randomUUID()}`;
  const connection = await connect();
  const log = embeddedLog({ id: dbName, connection, opened });
  await log.setUp([{ name: topic, partitions: 1, retentionMs: 3_600_000 }]);
  for (const key of ['a', 'b', 'c']) await log.publish(topic, [{ key, value: Buffer.from(key), headers: {} }]);
  const chunks = connection.collection('logChunks');
  await chunks.updateMany({ _id: { $regex: `^${topic}/` }, sequence: { $lt: 3 } } as never, {
    $set: { appendedAt: new Date(Date.now() - 7_200_000) },
  });
  const later = embeddedLog({ id: dbName, connection, opened });
  await later.publish(topic, [{ key: 'd', value: Buffer.from('d'), headers: {} }]);
  await expect
    .poll(async () =>
      (await chunks.find({ _id: { $regex: `^${topic}/` } } as never).toArray()).map(({ sequence }) => sequence),
    )
    .toEqual([3, 4]);
  await log.close();
  await later.close();
});
