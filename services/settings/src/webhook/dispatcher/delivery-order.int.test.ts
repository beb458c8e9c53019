import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { changes, listVersions, upTo } from '../../../test/ticket-changes.ts';
import { startReceiver, startWebhookHarness, type WebhookHarness } from '../../../test/webhook-harness.ts';

let harness: WebhookHarness;

beforeAll(async () => {
  harness = await startWebhookHarness();
});

afterEach(async () => {
  for (const { id } of (await harness.request('GET', '/webhook')).json.webhooks) {
    await harness.request('DELETE', `/webhook/${id}`);
  }
  harness.clock.aheadMs = 0;
});

afterAll(() => harness.stop());

// guarantee: W6
it('the changes of a ticket are delivered in order, at most 4 at once, and the slots are used', async () => {
  const isFull = Promise.withResolvers<void>();
  let inFlight = 0;
  const receiver = await startReceiver(async () => {
    inFlight += 1;
    if (inFlight === 4) isFull.resolve();
    await isFull.promise;
    inFlight -= 1;
    return { status: 204 };
  });
  await harness.createWebhook({ url: receiver.url });
  await harness.publish(...changes(upTo(12), 10));
  await expect.poll(() => receiver.received.length).toBe(120);
  for (const ticketId of upTo(12)) expect(listVersions(receiver.received, ticketId)).toEqual(upTo(10));
  expect(receiver.load.most).toBe(4);
  await receiver.stop();
});

// guarantee: W6
it('a ticket that fails waits with all its changes, and delays no other ticket, however long its backlog is', async () => {
  let isFailing = true;
  const receiver = await startReceiver(({ json }) => ({ status: isFailing && json.data.ticketId === 1 ? 500 : 204 }));
  const { id } = await harness.createWebhook({ url: receiver.url });
  await harness.publish({ ticketId: 1, version: 1 });
  await harness.delivery(id, { status: 'retrying' });
  await harness.publish(...changes([1], 120).slice(1), ...changes([2, 3], 50));
  const others = () => receiver.received.filter(({ json }) => json.data.ticketId !== 1).length;
  await expect.poll(others).toBe(100);
  await harness.publish({ ticketId: 1, version: 121 }, { ticketId: 4, version: 1 });
  await expect.poll(others).toBe(101);
  expect(listVersions(receiver.received, 1)).toEqual([1]);
  expect(listVersions(receiver.received, 2)).toEqual(upTo(50));
  isFailing = false;
  await harness.moveClock({ byMs: 6_000 });
  await expect.poll(() => listVersions(receiver.received, 1).length).toBe(121);
  expect(listVersions(receiver.received, 1)).toEqual(upTo(121));
  await receiver.stop();
});

it('the later changes of a ticket follow when the first one is exhausted', async () => {
  const receiver = await startReceiver(({ json }) => ({ status: json.data.version === 1 ? 500 : 204 }));
  const { id } = await harness.createWebhook({ url: receiver.url });
  await harness.publish(...changes([1], 3));
  const first = async () => (await harness.deliveries(id))[0];
  for (let attempts = 1; attempts < 10; attempts += 1) {
    await expect.poll(async () => (await first()).attempts.length).toBe(attempts);
    expect(listVersions(receiver.received, 1)).toEqual([1]);
    await harness.moveClock({ byMs: 7 * 3_600_000 });
  }
  const statuses = async () => (await harness.deliveries(id)).map(({ status }) => status);
  await expect.poll(statuses).toEqual(['exhausted', 'delivered', 'delivered']);
  expect(listVersions(receiver.received, 1)).toEqual([1, 2, 3]);
  await receiver.stop();
});

// guarantee: W6
it('an endpoint that hangs does not delay another', async () => {
  const hanging = await startReceiver(() => new Promise(() => undefined));
  const receiver = await startReceiver();
  await harness.createWebhook({ url: hanging.url });
  await harness.createWebhook({ url: receiver.url });
  await harness.publish(...changes(upTo(10), 5));
  await expect.poll(() => receiver.received.length).toBe(50);
  await expect.poll(() => hanging.received.length).toBe(4);
  for (const { id } of (await harness.request('GET', '/webhook')).json.webhooks) {
    await harness.request('DELETE', `/webhook/${id}`);
  }
  // The requests of an endpoint that is deleted end.
  await expect.poll(() => hanging.open()).toBe(0);
  await Promise.all([hanging.stop(), receiver.stop()]);
});
