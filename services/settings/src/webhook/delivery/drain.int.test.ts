import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Receiver,
  startReceiver,
  startWebhookHarness,
  type WebhookHarness,
} from '../../../test/webhook-harness.ts';
import { service } from '../../service.ts';

let harness: WebhookHarness;

beforeAll(async () => {
  harness = await startWebhookHarness();
});

afterAll(() => harness.stop());

/** Starts the operation `drain`. The lines that it prints are added to the list. */
function drain() {
  const lines: string[] = [];
  const ended = service.operate({ name: 'drain' }, (line) => lines.push(line), harness.environment);
  return { lines, ended };
}

/** Starts a receiver with an endpoint, whose first event is attempted until `release` is called. */
async function holdFirst(): Promise<{ id: number; receiver: Receiver; release(status: number): void }> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const receiver = await startReceiver(async () => ({ status: await promise }));
  const { id } = await harness.createWebhook({ url: receiver.url });
  return { id, receiver, release: resolve };
}

it('drain waits until the deliveries that are due are made', async () => {
  const { id, receiver, release } = await holdFirst();
  await harness.publish({ ticketId: 1 }, { ticketId: 1, version: 2 });
  await expect.poll(() => receiver.received.length).toBe(1);
  const { lines, ended } = drain();
  await expect.poll(() => lines).toContain('settings: 2 deliveries are due and not made yet');
  release(204);
  await ended;
  expect(lines.filter((line) => line.startsWith('settings: 0'))).toEqual([
    'settings: 0 events are not sent yet',
    'settings: 0 events are not handled yet by the group settings',
    'settings: 0 deliveries are due and not made yet',
  ]);
  expect((await harness.deliveries(id)).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
  await harness.request('DELETE', `/webhook/${id}`);
  await receiver.stop();
});

it('drain does not wait for the next attempt of a failed delivery, nor for the later ones of its ticket', async () => {
  const { id, receiver, release } = await holdFirst();
  await harness.publish({ ticketId: 2 }, { ticketId: 2, version: 2 });
  await expect.poll(() => receiver.received.length).toBe(1);
  const { lines, ended } = drain();
  await expect.poll(() => lines).toContain('settings: 2 deliveries are due and not made yet');
  release(500);
  await ended;
  expect((await harness.deliveries(id)).map(({ status }) => status)).toEqual(['retrying', 'scheduled']);
  await harness.request('DELETE', `/webhook/${id}`);
  await receiver.stop();
});

it.each([
  ['is paused', { status: 'paused' }, {}],
  ['is paused by the breaker', {}, { 'health.failuresInRow': 20, 'health.pausedUntil': Date.now() + 300_000 }],
])('drain does not wait for an endpoint that %s', async (_, fields, health) => {
  const { id, receiver } = await holdFirst();
  await harness.request('PATCH', `/webhook/${id}`, { description: 'for this test', ...fields });
  const webhooks = harness.database.collection<{ _id: number }>('webhooks');
  await webhooks.updateOne({ _id: id }, { $set: { description: 'for this test', ...health }, $inc: { epoch: 1 } });
  await harness.publish({ ticketId: 3 });
  await expect.poll(async () => (await harness.deliveries(id)).length).toBe(1);
  await drain().ended;
  expect((await harness.deliveries(id)).map(({ status }) => status)).toEqual(['scheduled']);
  await harness.request('DELETE', `/webhook/${id}`);
  await receiver.stop();
});
