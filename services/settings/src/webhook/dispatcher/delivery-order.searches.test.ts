import { expect, it } from 'vitest';
import { changes, listVersions, upTo } from '../../../test/ticket-changes.ts';
import { type Receiver, startReceiver, startWebhookHarness } from '../../../test/webhook-harness.ts';

// guarantee: W5
it('several processes share the endpoints; when one stops, nothing is lost and the order is kept', async () => {
  const harness = await startWebhookHarness();
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
  await harness.stop();
});
