import { ChangeCause, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { receiverForTests, startReceiver } from '../../../test/webhook-harness.ts';

const used = receiverForTests();

const received = () => used.receiver.received.map(({ headers }) => headers['webhook-id']);

describe('a change of a ticket', () => {
  // spec: 17.5, 38.1
  it('is delivered, signed, to the endpoints whose filters take it', async () => {
    const { id, secret } = await used.harness.createWebhook({ url: used.receiver.url, eventTypes: ['ticket.created'] });
    const [first, , third] = await used.harness.publish(
      { ticketId: 1, type: TicketChangeType.TICKET_CREATED },
      { ticketId: 1, version: 2 },
      { ticketId: 2, type: TicketChangeType.TICKET_CREATED },
    );
    const isDelivered = async () =>
      (await used.harness.deliveries(id)).map(({ eventId, status }) => [eventId, status]).sort();
    await expect.poll(isDelivered).toEqual([
      [first, 'delivered'],
      [third, 'delivered'],
    ]);
    expect(received().sort()).toEqual([first, third]);
    for (const { body, headers, json } of used.receiver.received) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(json);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      });
      expect(json.data).toMatchObject({ eventId: headers['webhook-id'], type: 'ticket.created' });
    }
  });

  // spec: 22.8, 38.2
  it('is not delivered if a refresh flag has caused it, or if it is older than the endpoint', async () => {
    const first = await used.harness.createWebhook({ url: used.receiver.url });
    const [old] = await used.harness.publish({ ticketId: 1 });
    await used.harness.delivery(first.id, { status: 'delivered' });
    const later = await used.harness.createWebhook({ url: used.receiver.url });
    // The same event again, as the bus may bring it.
    await used.harness.publish(
      { ticketId: 1, eventId: old ?? '' },
      { ticketId: 1, cause: ChangeCause.REFRESH },
      { ticketId: 2, eventId: 'evt_last' },
    );
    expect(await used.harness.delivery(later.id, { status: 'delivered' })).toMatchObject({ eventId: 'evt_last' });
    expect((await used.harness.deliveries(first.id)).map(({ eventId }) => eventId)).toEqual([old, 'evt_last']);
    expect(received()).toHaveLength(3);
  });

  it('waits while its endpoint is paused, and is delivered when it is active again', async () => {
    const { id } = await used.harness.createWebhook({ url: used.receiver.url, status: 'paused' });
    const other = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 1 });
    await used.harness.delivery(other.id, { status: 'delivered' });
    expect(await used.harness.delivery(id, { status: 'scheduled' })).toMatchObject({ attempts: [] });
    await used.harness.request('PATCH', `/webhook/${id}`, { status: 'active' });
    await used.harness.delivery(id, { status: 'delivered' });
  });

  // guarantee: W3
  it('is signed by the old secret too, for 24 hours after a rotation', async () => {
    const { id, secret: old } = await used.harness.createWebhook({ url: used.receiver.url });
    const { secret } = (await used.harness.request('POST', `/webhook/${id}/rotateSecret`, {})).json;
    const verifiedBy = async () => {
      used.receiver.received.length = 0;
      await used.harness.request('POST', `/webhook/${id}/test`, {});
      await expect.poll(() => used.receiver.received.length).toBe(1);
      const [one] = used.receiver.received;
      if (!one) throw new Error('nothing was received');
      // The package compares with its own clock.
      const aheadBy = Number(one.headers['webhook-timestamp']) - Math.floor(one.at / 1000);
      return [secret, old].map((key) => {
        const expected = new Webhook(key).sign(
          one.headers['webhook-id'] ?? '',
          new Date(one.at + aheadBy * 1000),
          one.body,
        );
        return (one.headers['webhook-signature'] ?? '').split(' ').includes(expected);
      });
    };
    expect(await verifiedBy()).toEqual([true, true]);
    used.harness.clock.aheadMs = 24 * 3_600_000 + 1000;
    expect(await verifiedBy()).toEqual([true, false]);
  });
});

describe('a failed delivery', () => {
  // guarantee: W4
  it('is attempted ten times in 24 hours, with the same id, a new time and a new signature', async () => {
    used.response = { status: 500, body: 'no' };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 1 });
    const gaps: number[] = [];
    for (let attempts = 1; attempts < 10; attempts += 1) {
      const { nextAttemptAt, attempts: made } = await used.harness.delivery(id, { status: 'retrying', attempts });
      gaps.push((Date.parse(`${nextAttemptAt}Z`) - Date.parse(`${made.at(-1).at}Z`)) / 1000);
      await used.harness.moveClock({ time: nextAttemptAt });
      await used.harness.moveClock({ byMs: 1000 });
    }
    const last = await used.harness.delivery(id, { status: 'exhausted', attempts: 10 });
    expect(last.nextAttemptAt).toBeNull();
    const steps = [5, 295, 1500, 5400, 10_800, 18_000, 14_400, 21_600, 14_400];
    for (const [index, gap] of gaps.entries()) expect(Math.abs(gap - (steps[index] ?? 0))).toBeLessThanOrEqual(1);
    expect(new Set(received()).size).toBe(1);
    expect(received()).toHaveLength(10);
    for (const header of ['webhook-timestamp', 'webhook-signature']) {
      expect(new Set(used.receiver.received.map(({ headers }) => headers[header])).size).toBe(10);
    }
    expect(new Set(used.receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  // guarantee: W1
  it('is one whose response has another status than 2xx; redirects are not followed', async () => {
    const statuses = [200, 201, 204, 299, 300, 302, 304, 400, 404, 500];
    const headers = { location: `${used.receiver.url}/elsewhere` };
    const byPath = await startReceiver(({ path }) => ({ status: Number(path.split('=')[1]), headers }));
    const created = statuses.map((status) => used.harness.createWebhook({ url: `${byPath.url}?status=${status}` }));
    const webhooks = await Promise.all(created);
    await used.harness.publish({ ticketId: 1 });
    for (const [index, status] of statuses.entries()) {
      const isDelivered = status >= 200 && status < 300;
      const expected = { status: isDelivered ? 'delivered' : 'retrying', attempts: 1 };
      const { attempts } = await used.harness.delivery(webhooks[index].id, expected);
      expect(attempts[0]).toMatchObject({ status, errorKind: null, address: '127.0.0.1' });
    }
    expect(byPath.received).toHaveLength(statuses.length);
    expect(used.receiver.received).toEqual([]);
    await byPath.stop();
  });

  it.each([
    ['in seconds', () => '3600', (attemptAt: number) => attemptAt + 3_600_000],
    ['as a date', (date: string) => date, (_: number, date: string) => Date.parse(date)],
    // guarantee: W4
  ])('is not attempted before the time of Retry-After %s', async (_form, header, expected) => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    used.response = { status: 503, headers: { 'retry-after': header(date) } };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 1 });
    const { nextAttemptAt, attempts } = await used.harness.delivery(id, { status: 'retrying' });
    const lateMs = Date.parse(`${nextAttemptAt}Z`) - expected(Date.parse(`${attempts[0].at}Z`), date);
    expect(lateMs).toBeGreaterThanOrEqual(0);
    // Times are shown in whole seconds.
    expect(lateMs).toBeLessThanOrEqual(attempts[0].durationMs + 1_000);
  });

  it('is logged with its error if nobody listens', async () => {
    const closed = await startReceiver();
    await closed.stop();
    const { id } = await used.harness.createWebhook({ url: closed.url });
    await used.harness.publish({ ticketId: 1 });
    const { attempts } = await used.harness.delivery(id, { status: 'retrying' });
    expect(attempts).toEqual([
      { ...attempts[0], status: null, errorKind: 'connect_failed', responseStart: null, address: '127.0.0.1' },
    ]);
  });

  // guarantee: W1
  it('is logged with the first 4 KiB of a long response', async () => {
    used.response = { status: 500, body: `${'a'.repeat(4095)}é${'b'.repeat(200_000)}` };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 1 });
    const { attempts } = await used.harness.delivery(id, { status: 'retrying' });
    expect(attempts[0].responseStart).toBe('a'.repeat(4095));
  });
});

it('the metrics count attempts by outcome', async () => {
  used.response = { status: 500 };
  const { id } = await used.harness.createWebhook({ url: used.receiver.url });
  await used.harness.publish({ ticketId: 1 });
  await used.harness.delivery(id, { status: 'retrying' });
  const metrics = await (await fetch(`http://127.0.0.1:${used.harness.running.ports.internal}/metrics`)).text();
  expect(metrics).toMatch(/^webhook_attempts_total\{outcome="refused",service="settings"\} [1-9]/m);
  expect(metrics).toMatch(/^webhook_attempts_total\{outcome="delivered",service="settings"\} [1-9]/m);
  expect(metrics).toMatch(/^webhook_endpoints_disabled\{service="settings"\} 0$/m);
  expect(metrics).toMatch(/^webhook_endpoints_failing\{service="settings"\} 0$/m);
  expect(metrics).toMatch(/^webhook_oldest_pending_seconds\{service="settings"\} \d/m);
});

it('the metrics count endpoints that have only failed for five minutes, also without a process of the role dispatcher', async () => {
  used.response = { status: 500 };
  const { id } = await used.harness.createWebhook({ url: used.receiver.url });
  await used.harness.publish({ ticketId: 1 });
  await used.harness.delivery(id, { status: 'retrying' });
  const api = await used.harness.startInstance({ TICKETING_SETTINGS_ROLES: 'api' });
  onTestFinished(() => api.stop());
  const failing = async () =>
    Number(
      /^webhook_endpoints_failing\S* (\d+)$/m.exec(
        await (await fetch(`http://127.0.0.1:${api.ports.internal}/metrics`)).text(),
      )?.[1],
    );
  expect(await failing()).toBe(0);
  const stored = used.harness.database.collection<{ _id: number }>('webhooks');
  const firstFailureAt = Date.now() - 5 * 60_000;
  await expect
    .poll(
      async () =>
        (
          await stored.findOneAndUpdate(
            { _id: id, 'health.failuresInRow': 1 },
            { $set: { 'health.firstFailureAt': firstFailureAt } },
          )
        )?._id,
    )
    .toBe(id);
  expect(await failing()).toBe(1);
  await stored.updateOne({ _id: id }, { $set: { status: 3 } });
  expect(await failing()).toBe(0);
});
