import { TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
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

const statuses = async (id: number) => (await harness.deliveries(id)).map(({ status }) => status);

describe('the list of deliveries', () => {
  it('has the newest first, by status, in pages whose cursor belongs to them', async () => {
    const { id } = await harness.createWebhook({ url: receiver.url });
    const events = await harness.publish(...[1, 2, 3, 4, 5].map((ticketId) => ({ ticketId })));
    await expect.poll(() => statuses(id)).toEqual(Array(5).fill('delivered'));
    const path = `/webhook/${id}/delivery?limit=2`;
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const suffix: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { deliveries, nextCursor } = (await harness.request('GET', `${path}&status=delivered${suffix}`)).json;
      pages.push(deliveries.map(({ eventId }: { eventId: string }) => eventId));
      cursor = nextCursor;
    }
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(pages.flat().sort()).toEqual(events.toSorted());
    expect((await harness.request('GET', `${path}&status=exhausted`)).json).toEqual({
      success: true,
      deliveries: [],
      nextCursor: null,
    });
    const { nextCursor } = (await harness.request('GET', path)).json;
    for (const wrong of [`${path}&status=delivered&cursor=${nextCursor}`, `${path}&cursor=x${nextCursor}`]) {
      const { status, json } = await harness.request('GET', wrong);
      expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'invalid_cursor', '#/query/cursor']);
    }
  });

  it('shows one as it is documented', async () => {
    response = { status: 500, body: 'not now' };
    const { id } = await harness.createWebhook({ url: receiver.url });
    const [eventId] = await harness.publish({ ticketId: 3 });
    const delivery = await harness.delivery(id, { status: 'retrying' });
    const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
    expect(delivery).toEqual({
      id: expect.stringMatching(/^dlv_[0-9a-f]{32}$/),
      eventId,
      eventType: 'ticket.updated',
      ticketId: 3,
      status: 'retrying',
      createdAt: time,
      nextAttemptAt: time,
      attempts: [
        {
          at: time,
          durationMs: expect.any(Number),
          status: 500,
          errorKind: null,
          responseStart: 'not now',
          address: '127.0.0.1',
        },
      ],
    });
  });
});

describe('a test message', () => {
  it('is delivered with the type webhook.test, and once for an Idempotency-Key', async () => {
    const { id } = await harness.createWebhook({ url: receiver.url });
    const send = () =>
      harness.request('POST', `/webhook/${id}/test`, {}, { headers: { 'idempotency-key': `test-${id}` } });
    const first = await send();
    expect(first.status).toBe(202);
    expect(first.json).toMatchObject({ success: true, delivery: { eventType: 'webhook.test', ticketId: null } });
    expect((await send()).json).toEqual(first.json);
    await harness.delivery(id, { status: 'delivered', attempts: 1 });
    const { headers, json } = receiver.received[0] ?? expect.unreachable('nothing was received');
    expect(receiver.received).toHaveLength(1);
    expect(headers['webhook-id']).toBe(first.json.delivery.eventId);
    expect(json).toEqual({ type: 'webhook.test', timestamp: expect.any(String), data: { webhookId: id } });
  });
});

describe('a delivery that is requested again', () => {
  it('is sent with the id of its event, also after it was delivered', async () => {
    const { id } = await harness.createWebhook({ url: receiver.url });
    const [eventId] = await harness.publish({ ticketId: 1 });
    const delivery = await harness.delivery(id, { status: 'delivered' });
    const again = await harness.request('POST', `/webhook/${id}/delivery/${delivery.id}/redeliver`, {});
    expect(again.status).toBe(202);
    expect(again.json).toMatchObject({ success: true, delivery: { id: delivery.id, eventId } });
    await harness.delivery(id, { status: 'delivered', attempts: 2 });
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId]);
  });

  it('does not wait for its next attempt, and takes the later changes of its ticket with it', async () => {
    response = { status: 500, headers: { 'retry-after': '36000' } };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.publish({ ticketId: 1 }, { ticketId: 1, version: 2 });
    await expect.poll(() => statuses(id)).toEqual(['retrying', 'scheduled']);
    // The second one waits as long as the first.
    const [first] = await harness.deliveries(id);
    await expect.poll(async () => (await harness.deliveries(id))[1].nextAttemptAt).toBe(first.nextAttemptAt);
    response = { status: 204 };
    await harness.request('POST', `/webhook/${id}/delivery/${first.id}/redeliver`, {});
    await expect.poll(() => statuses(id)).toEqual(['delivered', 'delivered']);
  });

  it('is 404 if it is not one of the endpoint', async () => {
    const { id } = await harness.createWebhook({ url: receiver.url });
    const other = await harness.createWebhook({ url: receiver.url, eventTypes: ['ticket.deleted'] });
    await harness.publish({ ticketId: 1 });
    const delivery = await harness.delivery(id, { status: 'delivered' });
    const refused = await harness.request('POST', `/webhook/${other.id}/delivery/${delivery.id}/redeliver`, {});
    expect([refused.status, refused.json.code]).toEqual([404, 'delivery_not_found']);
  });
});

describe('when a ticket is deleted', () => {
  const contents = async (id: number) =>
    (await harness.deliveries(id)).flatMap(({ attempts }) =>
      attempts.map(({ responseStart, address }: { responseStart: unknown; address: unknown }) => [
        responseStart,
        address,
      ]),
    );

  it('what receivers responded is wiped, its pending deliveries are made, and nothing of them is stored', async () => {
    response = { status: 500, body: 'Ada Lovelace is unknown' };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.publish({ ticketId: 70 }, { ticketId: 71 });
    await expect.poll(() => statuses(id)).toEqual(['retrying', 'retrying']);
    await harness.publish({ ticketId: 70, version: 2, type: TicketChangeType.TICKET_DELETED });
    await expect.poll(() => harness.confirmed).toContain(70);
    const ofDeleted = async () => (await harness.deliveries(id)).filter(({ ticketId }) => ticketId === 70);
    expect((await ofDeleted())[0].attempts[0]).toMatchObject({ status: 500, responseStart: null, address: null });
    response = { status: 204, body: 'Ada Lovelace is gone' };
    await harness.moveClock({ byMs: 6_000 });
    await expect.poll(async () => (await ofDeleted()).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    const deleted = await ofDeleted();
    expect(
      deleted
        .flatMap(({ attempts }) => attempts)
        .every((attempt) => attempt.responseStart === null && attempt.address === null),
    ).toBe(true);
    expect(deleted[0].attempts).toHaveLength(2);
    const other = await contents(id);
    expect(other).toContainEqual(['Ada Lovelace is unknown', '127.0.0.1']);
  });

  it('a stored response that shows one of its deliveries is erased', async () => {
    response = { status: 500, body: 'Ada Lovelace is unknown' };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.publish({ ticketId: 73 });
    const delivery = await harness.delivery(id, { status: 'retrying' });
    const redeliver = () =>
      harness.request(
        'POST',
        `/webhook/${id}/delivery/${delivery.id}/redeliver`,
        {},
        {
          headers: { 'idempotency-key': `redeliver-${id}` },
        },
      );
    const first = await redeliver();
    expect([first.status, first.text.includes('Ada Lovelace')]).toEqual([202, true]);
    expect((await redeliver()).json).toEqual(first.json);
    await harness.publish({ ticketId: 73, version: 2, type: TicketChangeType.TICKET_DELETED });
    await expect.poll(() => harness.confirmed).toContain(73);
    const repeated = await redeliver();
    expect([repeated.status, repeated.json.code]).toEqual([404, 'ticket_not_found']);
  });

  it('deliveries that are recovered later store nothing either', async () => {
    await harness.publish({ ticketId: 72 }, { ticketId: 72, version: 2, type: TicketChangeType.TICKET_DELETED });
    await expect.poll(() => harness.confirmed).toContain(72);
    response = { status: 200, body: 'Ada Lovelace' };
    const { id } = await harness.createWebhook({ url: receiver.url });
    await harness.request('POST', `/webhook/${id}/recover`, { since: Math.floor(Date.now() / 1000) - 60 });
    const ofDeleted = async () => (await harness.deliveries(id)).filter(({ ticketId }) => ticketId === 72);
    await expect.poll(async () => (await ofDeleted()).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    for (const { attempts } of await ofDeleted()) {
      expect(attempts).toMatchObject([{ status: 200, responseStart: null, address: null }]);
    }
  });
});

it('no log and no response has a secret', async () => {
  const { id, secret } = await harness.createWebhook({ url: receiver.url });
  response = { status: 500 };
  await harness.publish({ ticketId: 1 });
  const delivery = await harness.delivery(id, { status: 'retrying' });
  const signature = receiver.received[0]?.headers['webhook-signature'] ?? '';
  expect(signature).toMatch(/^v1,/);
  for (const text of [
    JSON.stringify(delivery),
    JSON.stringify(await harness.database.collection('webhookDeliveries').find().toArray()),
  ]) {
    expect(text).not.toContain(secret.slice('whsec_'.length));
    expect(text).not.toContain(signature);
  }
});

describe('recovery', () => {
  it('takes as many events as there are, in batches', async () => {
    const { id } = await harness.createWebhook({ url: receiver.url, status: 'paused', eventTypes: ['ticket.created'] });
    await harness.publish(...Array.from({ length: 501 }, (_, index) => ({ ticketId: 1000 + (index % 50) })));
    const stored = () => harness.database.collection('events').countDocuments({ ticketId: { $gte: 1000 } });
    await expect.poll(stored).toBe(501);
    await harness.request('PATCH', `/webhook/${id}`, { eventTypes: ['ticket.updated'] });
    const { json } = await harness.request('POST', `/webhook/${id}/recover`, {
      since: Math.floor(Date.now() / 1000) - 60,
    });
    expect(json.count).toBeGreaterThanOrEqual(501);
    const added = await harness.database.collection('webhookDeliveries').countDocuments({ webhookId: id });
    expect(added).toBe(json.count);
  });

  it('delivers what an interval has and was not delivered, once', async () => {
    // Later than the events of the other tests.
    harness.clock.aheadMs = 10 * hour;
    response = { status: 410 };
    const { id } = await harness.createWebhook({ url: receiver.url, eventTypes: ['ticket.updated', 'ticket.deleted'] });
    const witness = await harness.createWebhook({ url: `${receiver.url}?witness` });
    await harness.publish({ ticketId: 1 });
    await expect.poll(async () => (await harness.request('GET', `/webhook/${id}`)).json.status).toBe('disabled');
    response = { status: 204 };
    await harness.request('PATCH', `/webhook/${witness.id}`, { status: 'active' });
    // While the endpoint is disabled, for an hour.
    harness.clock.aheadMs = 11 * hour;
    await harness.publish(
      { ticketId: 2 },
      { ticketId: 2, version: 2 },
      { ticketId: 3, type: TicketChangeType.TICKET_CREATED },
    );
    await expect
      .poll(async () => (await harness.deliveries(witness.id)).filter(({ status }) => status === 'delivered').length)
      .toBe(3);
    harness.clock.aheadMs = 12 * hour;
    await harness.request('PATCH', `/webhook/${id}`, { status: 'active' });
    await harness.publish({ ticketId: 4 });
    await expect.poll(() => statuses(id)).toEqual(['exhausted', 'delivered']);

    const at = (ms: number) => Math.floor((Date.now() + ms) / 1000);
    const recover = async (body: object) => (await harness.request('POST', `/webhook/${id}/recover`, body)).json;
    expect(await recover({ since: at(11.5 * hour), until: at(13 * hour) })).toEqual({ success: true, count: 0 });
    expect(await recover({ since: at(10.5 * hour), until: at(11.5 * hour) })).toEqual({ success: true, count: 2 });
    await expect
      .poll(async () => (await statuses(id)).toSorted())
      .toEqual(['delivered', 'delivered', 'delivered', 'exhausted']);
    expect(await recover({ since: at(9 * hour) })).toEqual({ success: true, count: 1 });
    await expect.poll(() => statuses(id)).toEqual(Array(4).fill('delivered'));
    expect(await recover({ since: at(9 * hour) })).toEqual({ success: true, count: 0 });
    const ids = receiver.received.filter(({ path }) => path === '/hook').map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([5, 4]);
  });
});
