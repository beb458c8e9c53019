import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  type ReceivedRequest,
  type Receiver,
  startReceiver,
  startWebhookHarness,
  type WebhookHarness,
} from '../../../test/webhook-harness.ts';

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

/** A number of changes of each ticket, in the order of their versions. */
function changes(ticketIds: readonly number[], versions: number) {
  return Array.from({ length: versions }, (_, index) =>
    ticketIds.map((ticketId) => ({ ticketId, version: index + 1 })),
  ).flat();
}

/** The versions of a ticket in the order in which they were first received. */
function listVersions(received: readonly ReceivedRequest[], ticketId: number): number[] {
  const all = received.filter(({ json }) => json.data.ticketId === ticketId).map(({ json }) => json.data.version);
  return [...new Set(all)];
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

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
  await harness.publish(...changes([1], 300).slice(1), ...changes([2, 3], 50));
  const others = () => receiver.received.filter(({ json }) => json.data.ticketId !== 1).length;
  await expect.poll(others).toBe(100);
  await harness.publish({ ticketId: 1, version: 301 }, { ticketId: 4, version: 1 });
  await expect.poll(others).toBe(101);
  expect(listVersions(receiver.received, 1)).toEqual([1]);
  expect(listVersions(receiver.received, 2)).toEqual(upTo(50));
  isFailing = false;
  await harness.moveClock({ byMs: 6_000 });
  await expect.poll(() => listVersions(receiver.received, 1).length).toBe(301);
  expect(listVersions(receiver.received, 1)).toEqual(upTo(301));
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
  expect(hanging.received).toHaveLength(4);
  for (const { id } of (await harness.request('GET', '/webhook')).json.webhooks) {
    await harness.request('DELETE', `/webhook/${id}`);
  }
  // The requests of an endpoint that is deleted end.
  await expect.poll(() => hanging.open()).toBe(0);
  await Promise.all([hanging.stop(), receiver.stop()]);
});

// guarantee: W5
it('several processes share the endpoints; when one stops, nothing is lost and the order is kept', async () => {
  const receivers: Receiver[] = [];
  const isStopping = Promise.withResolvers<void>();
  for (let count = 0; count < 6; count += 1) {
    let begun = 0;
    const receiver = await startReceiver(async () => {
      begun += 1;
      if (begun > 10) await isStopping.promise;
      return { status: 204 };
    });
    receivers.push(receiver);
    await harness.createWebhook({ url: receiver.url });
  }
  const second = await harness.startInstance();
  const owners = async () => {
    const leases = await harness.database
      .collection<{ _id: string; lease: { owner: string } | null }>('dispatcherLeases')
      .find()
      .toArray();
    return leases.map(({ lease }) => lease?.owner);
  };
  await expect.poll(async () => new Set(await owners()).size).toBe(2);
  await harness.publish(...changes(upTo(10), 10));
  // A bus can take as long as a session to share its partitions among two members of a group: 20 s.
  const least = () => Math.min(...receivers.map(({ received }) => received.length));
  await expect.poll(least, { timeout: 45_000 }).toBeGreaterThan(5);
  const stopped = second.stop();
  isStopping.resolve();
  await stopped;
  const missing = () =>
    receivers.map(({ received }) => 100 - new Set(received.map(({ headers }) => headers['webhook-id'])).size);
  await expect.poll(missing).toEqual(receivers.map(() => 0));
  for (const { received } of receivers) {
    for (const ticketId of upTo(10)) expect(listVersions(received, ticketId)).toEqual(upTo(10));
  }
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});
