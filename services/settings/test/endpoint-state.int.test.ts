import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Receiver,
  type ReceiverResponse,
  startReceiver,
  startWebhookHarness,
  type WebhookHarness,
} from './webhook-harness.ts';

let harness: WebhookHarness;
let receiver: Receiver;
/** What the receiver responds with. */
let response: ReceiverResponse = { status: 204 };

const hour = 3_600_000;

beforeAll(async () => {
  harness = await startWebhookHarness();
  receiver = await startReceiver(() => response);
});

afterEach(async () => {
  for (const { id } of (await harness.request('GET', '/webhook')).json.webhooks) {
    await harness.request('DELETE', `/webhook/${id}`);
  }
  receiver.received.length = 0;
  response = { status: 204 };
  harness.clock.aheadMs = 0;
});

afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

const read = async (id: number) => (await harness.request('GET', `/webhook/${id}`)).json;
const tickets = (count: number) => Array.from({ length: count }, (_, index) => ({ ticketId: index + 1 }));

describe('an endpoint that responds with 410', () => {
  it('is disabled at once, and its pending deliveries end', async () => {
    response = { status: 410 };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.publish(...tickets(30));
    await expect.poll(() => read(id)).toMatchObject({ status: 'disabled', disabledReason: 'gone' });
    const statuses = async () => new Set((await harness.deliveries(id)).map(({ status }) => status));
    await expect.poll(statuses).toEqual(new Set(['exhausted']));
    expect(receiver.received.length).toBeLessThanOrEqual(4);
  });

  it('is not disabled any more when it is paused, and continues from there', async () => {
    response = { status: 410 };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.publish({ ticketId: 1 });
    await expect.poll(async () => (await read(id)).status).toBe('disabled');
    const paused = await harness.request('PATCH', `/webhook/${id}`, { status: 'paused' });
    expect(paused.json.webhook).toMatchObject({ status: 'paused', disabledReason: null });
    response = { status: 204 };
    await harness.publish({ ticketId: 2 });
    await expect.poll(async () => (await harness.deliveries(id)).length).toBe(2);
    await harness.request('PATCH', `/webhook/${id}`, { status: 'active' });
    const statuses = async () => (await harness.deliveries(id)).map(({ status }) => status);
    await expect.poll(statuses).toEqual(['exhausted', 'delivered']);
  });

  it('gets nothing while it is disabled, and what comes after it was enabled', async () => {
    response = { status: 410 };
    const { id } = await harness.createWebhook({ url: receiver.url });
    const other = await harness.createWebhook({ url: `${receiver.url}?other`, eventTypes: ['ticket.deleted'] });
    await harness.publish({ ticketId: 1 });
    await expect.poll(async () => (await read(id)).status).toBe('disabled');
    for (const [method, path, body] of [
      ['POST', '/test', {}],
      ['POST', '/delivery/dlv_1/redeliver', {}],
      ['POST', '/recover', { since: 0 }],
    ] as const) {
      const refused = await harness.request(method, `/webhook/${id}${path}`, body);
      expect([refused.status, refused.json.code]).toEqual([409, 'webhook_disabled']);
    }
    response = { status: 204 };
    await harness.publish({ ticketId: 2 }, { ticketId: 3, type: 3 });
    await harness.delivery(other.id, { status: 'delivered' });
    const enabled = await harness.request('PATCH', `/webhook/${id}`, { status: 'active' });
    expect(enabled.json.webhook).toMatchObject({ status: 'active', disabledReason: null });
    await harness.publish({ ticketId: 4 });
    const delivered = async () => (await harness.deliveries(id)).map(({ ticketId, status }) => [ticketId, status]);
    await expect.poll(delivered).toEqual([
      [1, 'exhausted'],
      [4, 'delivered'],
    ]);
  });
});

describe('an endpoint that fails', () => {
  it('is paused for 5 minutes after 20 failures in a row, then probed until it works, and its status stays active', async () => {
    response = { status: 500 };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.publish(...tickets(60));
    const failures = async () => {
      const stored = await harness.database
        .collection<{ _id: number; health: { failuresInRow: number } }>('webhooks')
        .findOne({ _id: id });
      return stored?.health.failuresInRow;
    };
    await expect.poll(failures).toBeGreaterThanOrEqual(20);
    // Those that were being attempted when it was paused.
    const before = receiver.received.length;
    expect(before).toBeLessThanOrEqual(23);
    await harness.moveClock({ byMs: 4 * 60_000 });
    await expect
      .poll(async () => (await harness.deliveries(id)).filter(({ attempts }) => attempts.length > 0).length)
      .toBe(before);
    expect(receiver.received).toHaveLength(before);
    expect(await read(id)).toMatchObject({ status: 'active', disabledReason: null });

    await harness.moveClock({ byMs: 60_001 });
    await expect.poll(failures).toBe(before + 1);
    expect(receiver.received).toHaveLength(before + 1);

    response = { status: 204 };
    receiver.load.most = 0;
    await harness.moveClock({ byMs: 6 * 60_000 });
    const statuses = async () => new Set((await harness.deliveries(id)).map(({ status }) => status));
    await expect.poll(statuses).toEqual(new Set(['delivered']));
    expect(await failures()).toBe(0);
    const attempts = (await harness.deliveries(id)).map((delivery) => delivery.attempts.length);
    expect(Math.max(...attempts)).toBeLessThanOrEqual(3);
  });

  it('is probed at once for a test message', async () => {
    response = { status: 500 };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.publish(...tickets(25));
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(20);
    response = { status: 204 };
    await harness.request('POST', `/webhook/${id}/test`, {});
    await expect.poll(() => receiver.received.some(({ json }) => json.type === 'webhook.test')).toBe(true);
    await expect
      .poll(async () => (await harness.deliveries(id)).filter(({ status }) => status === 'delivered').length)
      .toBeGreaterThanOrEqual(2);
  });

  it('is probed at once with a delivery that is requested again', async () => {
    response = { status: 500 };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.publish(...tickets(40));
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(20);
    const paused = async () =>
      await harness.database.collection('webhooks').countDocuments({ 'health.pausedUntil': { $ne: null } });
    await expect.poll(paused).toBe(1);
    const scheduled = (await harness.deliveries(id)).filter(({ status }) => status === 'scheduled');
    expect(scheduled.length).toBeGreaterThan(1);
    const last = scheduled.at(-1);
    await expect.poll(() => receiver.load.now).toBe(0);
    const before = receiver.received.length;
    await harness.request('POST', `/webhook/${id}/delivery/${last.id}/redeliver`, {});
    await expect.poll(() => receiver.received.length).toBeGreaterThan(before);
    expect(receiver.received[before]?.headers['webhook-id']).toBe(last.eventId);
  });

  it('is disabled after 5 days without a success, and not before', async () => {
    response = { status: 500 };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.publish({ ticketId: 1 });
    await harness.delivery(id, { status: 'retrying', attempts: 1 });
    await harness.moveClock({ byMs: 5 * 24 * hour - 60_000 });
    await harness.delivery(id, { status: 'retrying', attempts: 2 });
    expect(await read(id)).toMatchObject({ status: 'active' });
    await harness.moveClock({ byMs: 10 * 60_000 });
    await harness.delivery(id, { status: 'exhausted', attempts: 3 });
    await expect.poll(() => read(id)).toMatchObject({ status: 'disabled', disabledReason: 'failedForDays' });
    const enabled = await harness.request('PATCH', `/webhook/${id}`, { status: 'active' });
    expect(enabled.json.webhook).toMatchObject({ status: 'active', disabledReason: null });
    await harness.publish({ ticketId: 2 });
    const last = async () => (await harness.deliveries(id)).at(-1);
    await expect.poll(last).toMatchObject({ ticketId: 2, status: 'retrying' });
    expect(await read(id)).toMatchObject({ status: 'active' });
  });
});

it('an endpoint that is deleted gets nothing more, and its deliveries are gone', async () => {
  response = { status: 500 };
  const { id } = await harness.createWebhook({ url: receiver.url });
  const other = await harness.createWebhook({ url: receiver.url, eventTypes: ['ticket.deleted'] });
  await harness.publish(...tickets(5));
  await expect.poll(() => receiver.received.length).toBe(5);
  expect((await harness.request('DELETE', `/webhook/${id}`)).status).toBe(200);
  expect(await harness.database.collection('webhookDeliveries').countDocuments({ webhookId: id })).toBe(0);
  response = { status: 204 };
  await harness.moveClock({ byMs: hour });
  await harness.publish({ ticketId: 9, type: 3 });
  await harness.delivery(other.id, { status: 'delivered' });
  expect(receiver.received).toHaveLength(6);
});
