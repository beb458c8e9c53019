import { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { deliveryQueue } from '../dispatcher/queue-store.ts';
import type { DeliveryParts } from './open.ts';
import { removeOldDeliveries } from './remove-old.ts';
import type { DeliveryState } from './rules/delivery.ts';
import { deliveryFixture } from './rules/delivery-fixture.ts';
import { buildDeliveryIndexes, deliveryCollection } from './schema.ts';
import { deliveryStore } from './store.ts';

type Connection = Awaited<ReturnType<typeof testDatabase>>;

const day = 24 * 3_600_000;
const start = Date.now();
let connection: Connection;
let warnings: object[];

beforeAll(async () => {
  connection = await testDatabase();
  await buildDeliveryIndexes(connection);
});

beforeEach(async () => {
  await deliveryCollection(connection).deleteMany({});
  warnings = [];
});

/** A delivery to the endpoint 1 that was added at a time. */
const addedAt = (time: number, position: number, fields: Partial<DeliveryState> = {}) =>
  deliveryFixture({ id: `dlv_${time.toString(16).padStart(12, '0')}${position}`, position, ...fields });

/** Runs the task at a time. Only the endpoint 1 exists. */
async function runTask(now: number): Promise<void> {
  const parts = {
    deliveries: deliveryStore(connection, systemRuntime),
    erasedTickets: erasedIds(connection, 'erasedTickets', () => now),
    runtime: { ...systemRuntime, now: () => now },
    webhooks: { all: async () => [{ id: 1 }] },
  };
  const log = { warn: (fields: object) => warnings.push(fields) };
  await removeOldDeliveries(parts as unknown as DeliveryParts, log as unknown as Logger);
}

const left = () => deliveryCollection(connection).find().sort({ position: 1 }).toArray();
const positionsLeft = async () => (await left()).map(({ position }) => position);

// guarantee: W9
it('deliveries stay for 30 days after they have ended, and those of a deleted endpoint not at all', async () => {
  await deliveryStore(connection, systemRuntime).add([
    addedAt(start, 1),
    addedAt(start + 1, 2),
    addedAt(start, 3, { webhookId: 2 }),
  ]);
  await deliveryQueue(connection).exhaust(1, start);
  await runTask(start + 30 * day);
  expect(await positionsLeft()).toEqual([1, 2]);
  await runTask(start + 30 * day + 1);
  expect(await positionsLeft()).toEqual([2]);
  expect(warnings).toEqual([]);
});

// guarantee: W9
it('deliveries that were due for 30 days end, with a line in the log, and stay for 30 days more', async () => {
  const ends = start + 30 * day + 1;
  await deliveryStore(connection, systemRuntime).add([
    addedAt(start, 1),
    addedAt(start, 2, { dueAt: ends + 1 }),
    addedAt(start + 1, 3),
  ]);
  await runTask(ends - 1);
  expect(warnings).toEqual([]);
  await runTask(ends);
  const [first, ...others] = await left();
  expect(first).toMatchObject({
    ...{ status: WebhookDeliveryStatus.EXHAUSTED, isPending: false, dueAt: null },
    attempts: [{ at: ends, errorKind: 'expired', status: null }],
  });
  expect(others.map(({ isPending }) => isPending)).toEqual([true, true]);
  expect(warnings).toEqual([{ count: 1 }]);
  await deliveryQueue(connection).exhaust(1, ends);
  await runTask(ends + 30 * day);
  expect(await positionsLeft()).toEqual([1, 2, 3]);
  await runTask(ends + 30 * day + 1);
  expect(await positionsLeft()).toEqual([]);
});

it('ids of deleted tickets stay for 90 days', async () => {
  await erasedIds(connection, 'erasedTickets', () => start).add(1);
  await erasedIds(connection, 'erasedTickets', () => start + 1).add(2);
  await runTask(start + 90 * day + 1);
  expect(await erasedIds(connection, 'erasedTickets', () => start).among([1, 2])).toEqual(new Set([2]));
});
