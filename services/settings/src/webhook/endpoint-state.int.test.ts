import { describe, expect, it, onTestFinished } from 'vitest';
import { receiverForTests, startReceiver } from '../../test/webhook-harness.ts';

const hour = 3_600_000;
const used = receiverForTests();

const read = async (id: number) => (await used.harness.request('GET', `/webhook/${id}`)).json;
const tickets = (count: number) => Array.from({ length: count }, (_, index) => ({ ticketId: index + 1 }));

describe('an endpoint that responds with 410', () => {
  // guarantee: W8
  it('is disabled at once, and its pending deliveries end', async () => {
    used.response = { status: 410 };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish(...tickets(30));
    await expect.poll(() => read(id)).toMatchObject({ status: 'disabled', disabledReason: 'gone' });
    const statuses = async () => new Set((await used.harness.deliveries(id)).map(({ status }) => status));
    await expect.poll(statuses).toEqual(new Set(['exhausted']));
    expect(used.receiver.received.length).toBeLessThanOrEqual(4);
  });

  it('is not disabled any more when it is paused, and continues from there', async () => {
    used.response = { status: 410 };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 1 });
    await expect.poll(async () => (await read(id)).status).toBe('disabled');
    const paused = await used.harness.request('PATCH', `/webhook/${id}`, { status: 'paused' });
    expect(paused.json.webhook).toMatchObject({ status: 'paused', disabledReason: null });
    used.response = { status: 204 };
    await used.harness.publish({ ticketId: 2 });
    await expect.poll(async () => (await used.harness.deliveries(id)).length).toBe(2);
    await used.harness.request('PATCH', `/webhook/${id}`, { status: 'active' });
    const statuses = async () => (await used.harness.deliveries(id)).map(({ status }) => status);
    await expect.poll(statuses).toEqual(['exhausted', 'delivered']);
  });

  it('gets nothing while it is disabled, and what comes after it was enabled', async () => {
    used.response = { status: 410 };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    const other = await used.harness.createWebhook({
      url: `${used.receiver.url}?other`,
      eventTypes: ['ticket.deleted'],
    });
    await used.harness.publish({ ticketId: 1 });
    await expect.poll(async () => (await read(id)).status).toBe('disabled');
    for (const [method, path, body] of [
      ['POST', '/test', {}],
      ['POST', '/delivery/dlv_1/redeliver', {}],
      ['POST', '/recover', { since: 0 }],
    ] as const) {
      const refused = await used.harness.request(method, `/webhook/${id}${path}`, body);
      expect([refused.status, refused.json.code]).toEqual([409, 'webhook_disabled']);
    }
    used.response = { status: 204 };
    await used.harness.publish({ ticketId: 3 }, { ticketId: 3, type: 3 });
    await used.harness.delivery(other.id, { status: 'delivered' });
    const enabled = await used.harness.request('PATCH', `/webhook/${id}`, { status: 'active' });
    expect(enabled.json.webhook).toMatchObject({ status: 'active', disabledReason: null });
    await used.harness.publish({ ticketId: 4 });
    const delivered = async () => (await used.harness.deliveries(id)).map(({ ticketId, status }) => [ticketId, status]);
    await expect.poll(delivered).toEqual([
      [1, 'exhausted'],
      [4, 'delivered'],
    ]);
  });
});

describe('an endpoint that fails', () => {
  // guarantee: W7
  it('is paused for 5 minutes after 20 failures in a row, then probed until it works, and its status stays active', async () => {
    let status = 500;
    let releasedFrom = 4;
    const releases: (() => void)[] = [];
    // A response waits until as many attempts as there may be at once have arrived, so that none is on its way.
    const receiver = await startReceiver(async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      releases.push(resolve);
      if (releases.length === releasedFrom) releases.shift()?.();
      await promise;
      return { status };
    });
    onTestFinished(() => receiver.stop());
    const { id } = await used.harness.createWebhook({ url: receiver.url });
    const other = await used.harness.createWebhook({ url: used.receiver.url, eventTypes: ['ticket.deleted'] });
    await used.harness.publish(...tickets(60));
    const failures = async () => {
      const stored = await used.harness.database
        .collection<{ _id: number; health: { failuresInRow: number } }>('webhooks')
        .findOne({ _id: id });
      return stored?.health.failuresInRow;
    };
    await expect.poll(failures).toBe(20);
    // The attempts that were being made when it was paused end.
    for (const release of releases.splice(0)) release();
    await expect.poll(failures).toBe(23);
    releasedFrom = 1;
    await used.harness.moveClock({ byMs: 4 * 60_000 });
    // The dispatcher has looked at all endpoints when it has made a delivery to another.
    await used.harness.publish({ ticketId: 61, type: 3 });
    await used.harness.delivery(other.id, { status: 'delivered' });
    expect(receiver.received).toHaveLength(23);
    expect(await read(id)).toMatchObject({ status: 'active', disabledReason: null });

    await used.harness.moveClock({ byMs: 60_001 });
    await expect.poll(failures).toBe(24);
    expect(receiver.received).toHaveLength(24);
    const stored = await used.harness.database.collection('webhookDeliveries').find({ webhookId: id }).toArray();
    const times = stored
      .flatMap(({ attempts }) => attempts.map(({ at }: { at: number }) => at))
      .sort((left, right) => left - right);
    expect(times.at(-1) - times.at(-2)).toBeGreaterThanOrEqual(5 * 60_000);

    status = 204;
    await used.harness.moveClock({ byMs: 6 * 60_000 });
    const statuses = async () => new Set((await used.harness.deliveries(id)).map((delivery) => delivery.status));
    await expect.poll(statuses).toEqual(new Set(['delivered']));
    expect(await failures()).toBe(0);
    const attempts = (await used.harness.deliveries(id)).map((delivery) => delivery.attempts.length);
    expect(Math.max(...attempts)).toBeLessThanOrEqual(3);
  });

  it('is probed at once for a test message', async () => {
    used.response = { status: 500 };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish(...tickets(25));
    await expect.poll(() => used.receiver.received.length).toBeGreaterThanOrEqual(20);
    used.response = { status: 204 };
    await used.harness.request('POST', `/webhook/${id}/test`, {});
    await expect.poll(() => used.receiver.received.some(({ json }) => json.type === 'webhook.test')).toBe(true);
    await expect
      .poll(async () => (await used.harness.deliveries(id)).filter(({ status }) => status === 'delivered').length)
      .toBeGreaterThanOrEqual(2);
  });

  it('is probed at once with a delivery that is requested again', async () => {
    used.response = { status: 500 };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish(...tickets(40));
    await expect.poll(() => used.receiver.received.length).toBeGreaterThanOrEqual(20);
    const paused = async () =>
      await used.harness.database.collection('webhooks').countDocuments({ 'health.pausedUntil': { $ne: null } });
    await expect.poll(paused).toBe(1);
    const scheduled = (await used.harness.deliveries(id)).filter(({ status }) => status === 'scheduled');
    expect(scheduled.length).toBeGreaterThan(1);
    const last = scheduled.at(-1);
    await expect.poll(() => used.receiver.load.now).toBe(0);
    const before = used.receiver.received.length;
    await used.harness.request('POST', `/webhook/${id}/delivery/${last.id}/redeliver`, {});
    await expect.poll(() => used.receiver.received.length).toBeGreaterThan(before);
    expect(used.receiver.received[before]?.headers['webhook-id']).toBe(last.eventId);
  });

  // guarantee: W8
  it('is disabled after 5 days without a success, and not before', async () => {
    used.response = { status: 500 };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 1 });
    await used.harness.delivery(id, { status: 'retrying', attempts: 1 });
    await used.harness.moveClock({ byMs: 5 * 24 * hour - 60_000 });
    await used.harness.delivery(id, { status: 'retrying', attempts: 2 });
    expect(await read(id)).toMatchObject({ status: 'active' });
    await used.harness.moveClock({ byMs: 10 * 60_000 });
    await used.harness.delivery(id, { status: 'exhausted', attempts: 3 });
    await expect.poll(() => read(id)).toMatchObject({ status: 'disabled', disabledReason: 'failedForDays' });
    const enabled = await used.harness.request('PATCH', `/webhook/${id}`, { status: 'active' });
    expect(enabled.json.webhook).toMatchObject({ status: 'active', disabledReason: null });
    await used.harness.publish({ ticketId: 2 });
    const last = async () => (await used.harness.deliveries(id)).at(-1);
    await expect.poll(last).toMatchObject({ ticketId: 2, status: 'retrying' });
    expect(await read(id)).toMatchObject({ status: 'active' });
  });
});

it('an endpoint that is deleted gets nothing more, and its deliveries are gone', async () => {
  used.response = { status: 500 };
  const { id } = await used.harness.createWebhook({ url: used.receiver.url });
  const other = await used.harness.createWebhook({ url: used.receiver.url, eventTypes: ['ticket.deleted'] });
  await used.harness.publish(...tickets(5));
  await expect.poll(() => used.receiver.received.length).toBe(5);
  expect((await used.harness.request('DELETE', `/webhook/${id}`)).status).toBe(200);
  expect(await used.harness.database.collection('webhookDeliveries').countDocuments({ webhookId: id })).toBe(0);
  used.response = { status: 204 };
  await used.harness.moveClock({ byMs: hour });
  await used.harness.publish({ ticketId: 9, type: 3 });
  await used.harness.delivery(other.id, { status: 'delivered' });
  expect(used.receiver.received).toHaveLength(6);
});
