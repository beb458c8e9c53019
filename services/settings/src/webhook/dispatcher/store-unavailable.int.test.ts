import { type DatabaseForwarder, openDatabaseForwarder } from '@ticketing/testkit/database-forwarder.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Receiver,
  startReceiver,
  startWebhookHarness,
  type WebhookHarness,
} from '../../../test/webhook-harness.ts';

let harness: WebhookHarness;
let receiver: Receiver;
let forwarder: DatabaseForwarder;
let hold: Promise<void> | undefined;

beforeAll(async () => {
  forwarder = await openDatabaseForwarder();
  // The first instance handles events; the dispatcher is in another one, behind the forwarder.
  harness = await startWebhookHarness({ variables: { ROLES: 'api,consumer' } });
  receiver = await startReceiver(async () => {
    await hold;
    return { status: 204 };
  });
});

afterAll(async () => {
  await harness.stop();
  await forwarder.close();
  await receiver.stop();
});

// guarantee: W12
it('a dispatcher whose database is unavailable for a while goes on where it was', async () => {
  const dispatching = await harness.startInstance({
    TICKETING_SETTINGS_ROLES: 'dispatcher',
    TICKETING_SETTINGS_MONGODB_URI: forwarder.uri,
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  hold = promise;
  const { id } = await harness.createWebhook({ url: receiver.url });
  const first = await harness.publish(...[1, 2, 3, 4, 5, 6].map((ticketId) => ({ ticketId })));
  await expect.poll(() => receiver.received.length).toBe(4);
  await forwarder.close();
  // The results of these four cannot be recorded yet.
  resolve();
  const second = await harness.publish({ ticketId: 1, version: 2 }, { ticketId: 7 });
  await expect.poll(async () => (await harness.deliveries(id)).length).toBe(8);
  await forwarder.open();
  const statuses = async () => (await harness.deliveries(id)).map(({ status }) => status);
  await expect.poll(statuses).toEqual(Array(8).fill('delivered'));
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids)).toEqual(new Set([...first, ...second]));
  expect(ids).toHaveLength(8);
  await dispatching.stop();
});
