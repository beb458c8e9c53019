import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { expect, it } from 'vitest';
import type { Context } from '../src/application/context.ts';
import { scheduledTasks } from '../src/application/scheduled-tasks.ts';
import { deliveryFixture } from '../src/domain/delivery-fixture.ts';
import { buildDeliveryIndexes, deliveryCollection } from '../src/store/delivery-model.ts';
import { deliveryStore } from '../src/store/delivery-store.ts';
import { erasedTickets } from '../src/store/erased-tickets.ts';

const day = 24 * 3_600_000;

it('deliveries stay for 30 days, those of a deleted endpoint not at all, and ids of deleted tickets for 90 days', async () => {
  const connection = await testDatabase();
  await buildDeliveryIndexes(connection);
  const now = Date.now();
  const deliveries = deliveryStore(connection);
  let erasedAt = now - 90 * day - 1;
  const erased = erasedTickets(connection, () => erasedAt);
  await erased.add(1);
  erasedAt += 2;
  await erased.add(2);
  const idAt = (time: number) => `dlv_${time.toString(16).padStart(12, '0')}00000000000000000000`;
  await deliveries.add([
    deliveryFixture({ id: idAt(now - 30 * day - 1), position: 1 }),
    deliveryFixture({ id: idAt(now - 30 * day), position: 2 }),
    deliveryFixture({ id: idAt(now), position: 3, webhookId: 2 }),
  ]);
  const context: Pick<Context, 'deliveries' | 'erasedTickets' | 'runtime'> & {
    webhooks: Pick<Context['webhooks'], 'all'>;
  } = {
    deliveries,
    erasedTickets: erased,
    runtime: { ...systemRuntime, now: () => now },
    webhooks: { all: async () => [{ id: 1 } as never] },
  };
  const task = scheduledTasks(context as Context).find(({ name }) => name === 'remove old deliveries');
  await task?.run();
  const left = await deliveryCollection(connection).find().toArray();
  expect(left.map(({ position }) => position)).toEqual([2]);
  expect(await erased.among([1, 2])).toEqual(new Set([2]));
});
