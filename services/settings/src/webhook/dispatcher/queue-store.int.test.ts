import { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { expect, it } from 'vitest';
import { deliveryFixture } from '../delivery/rules/delivery-fixture.ts';
import { buildDeliveryIndexes } from '../delivery/schema.ts';
import { deliveryStore } from '../delivery/store.ts';
import { type AttemptResult, deliveryQueue } from './queue-store.ts';

// guarantee: W5
it('an attempt is in the log once, also if its batch is recorded again', async () => {
  const connection = await testDatabase();
  await buildDeliveryIndexes(connection);
  const deliveries = deliveryStore(connection, systemRuntime);
  const queue = deliveryQueue(connection);
  const ids = ['dlv_1', 'dlv_2', 'dlv_3', 'dlv_4'];
  await deliveries.add(ids.map((id, index) => deliveryFixture({ id, position: index + 1, ticketId: index + 1 })));
  await deliveries.erase([4]);
  const { DELIVERED, RETRYING, EXHAUSTED } = WebhookDeliveryStatus;
  const result = (id: string, status: WebhookDeliveryStatus, at: number, dueAt: number | null): AttemptResult => ({
    ...{ id, status, dueAt, attemptsMade: at },
    attempt: {
      at,
      durationMs: 1,
      status: 500,
      errorKind: null,
      responseStart: 'x',
      responseJsonBytes: 3,
      address: 'y',
    },
  });
  const batch = [
    result('dlv_1', RETRYING, 1, 5),
    result('dlv_2', DELIVERED, 1, null),
    result('dlv_3', EXHAUSTED, 1, null),
    result('dlv_4', RETRYING, 1, 5),
  ];
  await queue.record(batch);
  await queue.record(batch);
  const stored = await deliveries.read(ids);
  expect(stored.map(({ id, status, attempts }) => [id, status, attempts.length])).toEqual([
    ['dlv_4', RETRYING, 1],
    ['dlv_3', EXHAUSTED, 1],
    ['dlv_2', DELIVERED, 1],
    ['dlv_1', RETRYING, 1],
  ]);
  // The responses of receivers are not read for the next attempts.
  const due = await queue.due(1, 5, [], 10);
  expect(due.deliveries.map(({ id }) => id)).toEqual(['dlv_1', 'dlv_4']);
  expect(due.deliveries[0]).not.toHaveProperty('attempts');
  await queue.record([result('dlv_1', RETRYING, 2, 9)]);
  expect((await deliveries.read(['dlv_1']))[0]).toMatchObject({ dueAt: 9, attempts: [{ at: 1 }, { at: 2 }] });
});
