import { create, toBinary } from '@bufbuild/protobuf';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import mongoose from 'mongoose';
import { describe, expect, it } from 'vitest';
import { receiverForTests, startReceiver } from '../../../test/webhook-harness.ts';

const { Binary } = mongoose.mongo;
const hour = 3_600_000;
const used = receiverForTests();

const statuses = async (id: number) => (await used.harness.deliveries(id)).map(({ status }) => status);

describe('the list of deliveries', () => {
  it('has the newest first, by status, in pages whose cursor belongs to them', async () => {
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    const events = await used.harness.publish(...[1, 2, 3, 4, 5].map((ticketId) => ({ ticketId })));
    await expect.poll(() => statuses(id)).toEqual(Array(5).fill('delivered'));
    const path = `/webhook/${id}/delivery?limit=2`;
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const suffix: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { deliveries, nextCursor } = (await used.harness.request('GET', `${path}&status=delivered${suffix}`)).json;
      pages.push(deliveries.map(({ eventId }: { eventId: string }) => eventId));
      cursor = nextCursor;
    }
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(pages.flat().sort()).toEqual(events.toSorted());
    expect((await used.harness.request('GET', `${path}&status=exhausted`)).json).toEqual({
      success: true,
      deliveries: [],
      nextCursor: null,
    });
    const { nextCursor } = (await used.harness.request('GET', path)).json;
    for (const wrong of [`${path}&status=delivered&cursor=${nextCursor}`, `${path}&cursor=x${nextCursor}`]) {
      const { status, json } = await used.harness.request('GET', wrong);
      expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'invalid_cursor', '#/query/cursor']);
    }
  });

  it('shows one as it is documented', async () => {
    used.response = { status: 500, body: 'not now' };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    const [eventId] = await used.harness.publish({ ticketId: 3 });
    const delivery = await used.harness.delivery(id, { status: 'retrying' });
    const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);
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
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    const send = () =>
      used.harness.request('POST', `/webhook/${id}/test`, {}, { headers: { 'idempotency-key': `test-${id}` } });
    const first = await send();
    expect(first.status).toBe(202);
    expect(first.json).toMatchObject({ success: true, delivery: { eventType: 'webhook.test', ticketId: null } });
    expect((await send()).json).toEqual(first.json);
    await used.harness.delivery(id, { status: 'delivered', attempts: 1 });
    const { headers, json } = used.receiver.received[0] ?? expect.unreachable('nothing was received');
    expect(used.receiver.received).toHaveLength(1);
    expect(headers['webhook-id']).toBe(first.json.delivery.eventId);
    expect(json).toEqual({ type: 'webhook.test', timestamp: expect.any(String), data: { webhookId: id } });
  });
});

describe('a delivery that is requested again', () => {
  it('is sent with the id of its event, also after it was delivered', async () => {
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    const [eventId] = await used.harness.publish({ ticketId: 1 });
    const delivery = await used.harness.delivery(id, { status: 'delivered' });
    const again = await used.harness.request('POST', `/webhook/${id}/delivery/${delivery.id}/redeliver`, {});
    expect(again.status).toBe(202);
    expect(again.json).toMatchObject({ success: true, delivery: { id: delivery.id, eventId } });
    await used.harness.delivery(id, { status: 'delivered', attempts: 2 });
    expect(used.receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId]);
  });

  it('does not wait for its next attempt, and takes the later changes of its ticket with it', async () => {
    used.response = { status: 500, headers: { 'retry-after': '36000' } };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 1 }, { ticketId: 1, version: 2 });
    await expect.poll(() => statuses(id)).toEqual(['retrying', 'scheduled']);
    // The second one waits as long as the first.
    const [first] = await used.harness.deliveries(id);
    await expect.poll(async () => (await used.harness.deliveries(id))[1].nextAttemptAt).toBe(first.nextAttemptAt);
    used.response = { status: 204 };
    await used.harness.request('POST', `/webhook/${id}/delivery/${first.id}/redeliver`, {});
    await expect.poll(() => statuses(id)).toEqual(['delivered', 'delivered']);
  });

  it('makes no change of its ticket wait if it was delivered before, and waits for none', async () => {
    used.response = { status: 500, headers: { 'retry-after': '36000' } };
    let failing: (version: number) => boolean = () => false;
    const some = await startReceiver(({ json }) => (failing(json.data.version) ? used.response : { status: 204 }));
    const { id } = await used.harness.createWebhook({ url: some.url });
    await used.harness.publish({ ticketId: 1 }, { ticketId: 1, version: 2 });
    await expect.poll(() => statuses(id)).toEqual(['delivered', 'delivered']);
    failing = (version) => version === 1 || version === 3;
    const [first, second] = await used.harness.deliveries(id);
    await used.harness.request('POST', `/webhook/${id}/delivery/${first.id}/redeliver`, {});
    await expect.poll(() => statuses(id)).toEqual(['retrying', 'delivered']);
    await used.harness.publish({ ticketId: 1, version: 3 }, { ticketId: 1, version: 4 });
    await expect.poll(() => statuses(id)).toEqual(['retrying', 'delivered', 'retrying', 'scheduled']);
    failing = (version) => version === 3;
    await used.harness.request('POST', `/webhook/${id}/delivery/${first.id}/redeliver`, {});
    await expect.poll(() => statuses(id)).toEqual(['delivered', 'delivered', 'retrying', 'scheduled']);
    const before = some.received.length;
    await used.harness.request('POST', `/webhook/${id}/delivery/${second.id}/redeliver`, {});
    await expect.poll(() => some.received.length).toBe(before + 1);
    await expect.poll(() => statuses(id)).toEqual(['delivered', 'delivered', 'retrying', 'scheduled']);
    await some.stop();
  });

  it('is 404 if it is not one of the endpoint', async () => {
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    const other = await used.harness.createWebhook({ url: used.receiver.url, eventTypes: ['ticket.deleted'] });
    await used.harness.publish({ ticketId: 1 });
    const delivery = await used.harness.delivery(id, { status: 'delivered' });
    const refused = await used.harness.request('POST', `/webhook/${other.id}/delivery/${delivery.id}/redeliver`, {});
    expect([refused.status, refused.json.code]).toEqual([404, 'delivery_not_found']);
  });
});

describe('when a ticket is deleted', () => {
  const contents = async (id: number) =>
    (await used.harness.deliveries(id)).flatMap(({ attempts }) =>
      attempts.map(({ responseStart, address }: { responseStart: unknown; address: unknown }) => [
        responseStart,
        address,
      ]),
    );

  // guarantee: W9
  it('what receivers responded is wiped, its pending deliveries are made, and nothing of them is stored', async () => {
    used.response = { status: 500, body: 'Ada Lovelace is unknown' };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 70 }, { ticketId: 71 });
    await expect.poll(() => statuses(id)).toEqual(['retrying', 'retrying']);
    await used.harness.publish({ ticketId: 70, version: 2, type: TicketChangeType.TICKET_DELETED });
    await expect.poll(() => used.harness.confirmed).toContain(70);
    const ofDeleted = async () => (await used.harness.deliveries(id)).filter(({ ticketId }) => ticketId === 70);
    expect((await ofDeleted())[0].attempts[0]).toMatchObject({ status: 500, responseStart: null, address: null });
    used.response = { status: 204, body: 'Ada Lovelace is gone' };
    await used.harness.moveClock({ byMs: 6_000 });
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

  // guarantee: W9
  it('a stored response that shows one of its deliveries is erased', async () => {
    used.response = { status: 500, body: 'Ada Lovelace is unknown' };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 73 });
    const delivery = await used.harness.delivery(id, { status: 'retrying' });
    const redeliver = () =>
      used.harness.request(
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
    await used.harness.publish({ ticketId: 73, version: 2, type: TicketChangeType.TICKET_DELETED });
    await expect.poll(() => used.harness.confirmed).toContain(73);
    const repeated = await redeliver();
    expect([repeated.status, repeated.json.code]).toEqual([404, 'ticket_not_found']);
  });

  it('its events and deliveries keep no ids, those that come or are recovered later included, and are still made', async () => {
    const newValue = { kind: { case: 'stringValue', value: 'K-4711' } } as const;
    const changes = [{ field: 'customerId', newValue }, { field: 'status' }];
    const stored = async () => {
      const documents = ['events', 'webhookDeliveries'].map((name) =>
        used.harness.database.collection(name).find({ ticketId: 74 }).toArray(),
      );
      const events = (await Promise.all(documents)).flat().flatMap(({ event }) => event?.toString('latin1') ?? []);
      return [events.length, events.filter((text: string) => text.includes('K-4711')).length];
    };
    used.response = { status: 500 };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.publish({ ticketId: 74, changes });
    await expect.poll(() => statuses(id)).toEqual(['retrying']);
    expect(await stored()).toEqual([2, 2]);
    await used.harness.publish({ ticketId: 74, version: 2, type: TicketChangeType.TICKET_DELETED });
    await expect.poll(() => used.harness.confirmed).toContain(74);
    expect(await stored()).toEqual([4, 0]);
    await used.harness.publish({ ticketId: 74, changes });
    await expect.poll(async () => (await stored())[0]).toBe(6);
    expect(await stored()).toEqual([6, 0]);
    const other = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.request('POST', `/webhook/${other.id}/recover`, { since: Math.floor(Date.now() / 1000) - 60 });
    expect((await stored())[1]).toBe(0);
    used.receiver.received.length = 0;
    used.response = { status: 204 };
    await used.harness.moveClock({ byMs: 6_000 });
    await expect.poll(() => statuses(id)).toEqual(Array(3).fill('delivered'));
    const bodies = used.receiver.received.map(({ body }) => body.toString()).join();
    expect([bodies.includes('"field":"customerId"'), bodies.includes('K-4711')]).toEqual([true, false]);
  });

  // guarantee: W9
  it('deliveries that are recovered later store nothing either', async () => {
    await used.harness.publish({ ticketId: 72 }, { ticketId: 72, version: 2, type: TicketChangeType.TICKET_DELETED });
    await expect.poll(() => used.harness.confirmed).toContain(72);
    used.response = { status: 200, body: 'Ada Lovelace' };
    const { id } = await used.harness.createWebhook({ url: used.receiver.url });
    await used.harness.request('POST', `/webhook/${id}/recover`, { since: Math.floor(Date.now() / 1000) - 60 });
    const ofDeleted = async () => (await used.harness.deliveries(id)).filter(({ ticketId }) => ticketId === 72);
    await expect.poll(async () => (await ofDeleted()).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    for (const { attempts } of await ofDeleted()) {
      expect(attempts).toMatchObject([{ status: 200, responseStart: null, address: null }]);
    }
  });
});

// guarantee: W11
it('no log and no response has a secret', async () => {
  const { id, secret } = await used.harness.createWebhook({ url: used.receiver.url });
  used.response = { status: 500 };
  await used.harness.publish({ ticketId: 1 });
  const delivery = await used.harness.delivery(id, { status: 'retrying' });
  const signature = used.receiver.received[0]?.headers['webhook-signature'] ?? '';
  expect(signature).toMatch(/^v1,/);
  for (const text of [
    JSON.stringify(delivery),
    JSON.stringify(await used.harness.database.collection('webhookDeliveries').find().toArray()),
  ]) {
    expect(text).not.toContain(secret.slice('whsec_'.length));
    expect(text).not.toContain(signature);
  }
});

describe('recovery', () => {
  it('takes as many events as there are, in batches', async () => {
    const { id } = await used.harness.createWebhook({
      url: used.receiver.url,
      status: 'paused',
      eventTypes: ['ticket.created'],
    });
    await used.harness.publish(...Array.from({ length: 501 }, (_, index) => ({ ticketId: 1000 + (index % 50) })));
    const stored = () => used.harness.database.collection('events').countDocuments({ ticketId: { $gte: 1000 } });
    await expect.poll(stored).toBe(501);
    await used.harness.request('PATCH', `/webhook/${id}`, { eventTypes: ['ticket.updated'] });
    const { json } = await used.harness.request('POST', `/webhook/${id}/recover`, {
      since: Math.floor(Date.now() / 1000) - 60,
    });
    expect(json.count).toBeGreaterThanOrEqual(501);
    const added = await used.harness.database.collection('webhookDeliveries').countDocuments({ webhookId: id });
    expect(added).toBe(json.count);
  });

  it('takes an interval of 100,000 events, and refuses one with one more by naming where to end it', async () => {
    const { id } = await used.harness.createWebhook({ url: used.receiver.url, eventTypes: ['intent.executed'] });
    const events = used.harness.database.collection<{ _id: number; receivedAt: Date }>('events');
    await used.harness.publish({ ticketId: 499 });
    await expect.poll(() => events.countDocuments({ ticketId: 499 })).toBe(1);
    const [newest] = await events.find().sort({ _id: -1 }).limit(1).toArray();
    if (!newest) throw new Error('there are no events');
    const start = Math.floor(newest.receivedAt.getTime() / 1000) + 10;
    const first = newest._id + 1;
    const event = (position: number, second: number, type: TicketChangeType) => {
      const fields = { eventId: `evt_long_${position}`, ticketId: 500, type };
      const bytes = toBinary(TicketChangedSchema, create(TicketChangedSchema, fields));
      return { ...fields, _id: position, receivedAt: new Date((start + second) * 1000), event: new Binary(bytes) };
    };
    const { INTENT_EXECUTED, TICKET_UPDATED } = TicketChangeType;
    await events.insertMany([
      event(first, 0, INTENT_EXECUTED),
      event(first + 7_000, 50, INTENT_EXECUTED),
      event(first + 99_999, 100, TICKET_UPDATED),
      event(first + 100_000, 200, INTENT_EXECUTED),
    ] as never);
    const feed = used.harness.database.collection<{ _id: string }>('feed');
    await feed.updateOne({ _id: 'feed' }, { $set: { last: first + 100_000 } });
    const recover = (until: number) =>
      used.harness.request('POST', `/webhook/${id}/recover`, { since: start, until: until });
    const refused = await recover(start + 200);
    expect([refused.status, refused.json.code]).toEqual([400, 'interval_too_long']);
    expect(refused.json.errors).toMatchObject([{ pointer: '#/until' }]);
    const named = /until (\S+Z) fits$/.exec(refused.json.errors[0].detail)?.[1] ?? '';
    expect(Date.parse(named)).toBe((start + 199) * 1000);
    expect((await recover(start + 199)).json).toEqual({ success: true, count: 2 });
    const rest = await used.harness.request('POST', `/webhook/${id}/recover`, {
      since: start + 200,
      until: start + 200,
    });
    expect(rest.json).toEqual({ success: true, count: 1 });
    await expect.poll(() => used.receiver.received.length).toBe(3);
  });

  it('delivers what an interval has and was not delivered, once', async () => {
    // Later than the events of the other tests.
    used.harness.clock.aheadMs = 10 * hour;
    used.response = { status: 410 };
    const { id } = await used.harness.createWebhook({
      url: used.receiver.url,
      eventTypes: ['ticket.updated', 'ticket.deleted'],
    });
    const witness = await used.harness.createWebhook({ url: `${used.receiver.url}?witness` });
    await used.harness.publish({ ticketId: 1 });
    await expect.poll(async () => (await used.harness.request('GET', `/webhook/${id}`)).json.status).toBe('disabled');
    used.response = { status: 204 };
    await used.harness.request('PATCH', `/webhook/${witness.id}`, { status: 'active' });
    // While the endpoint is disabled, for an hour.
    used.harness.clock.aheadMs = 11 * hour;
    await used.harness.publish(
      { ticketId: 2 },
      { ticketId: 2, version: 2 },
      { ticketId: 3, type: TicketChangeType.TICKET_CREATED },
    );
    await expect
      .poll(
        async () => (await used.harness.deliveries(witness.id)).filter(({ status }) => status === 'delivered').length,
      )
      .toBe(3);
    used.harness.clock.aheadMs = 12 * hour;
    await used.harness.request('PATCH', `/webhook/${id}`, { status: 'active' });
    await used.harness.publish({ ticketId: 4 });
    await expect.poll(() => statuses(id)).toEqual(['exhausted', 'delivered']);

    const at = (ms: number) => Math.floor((Date.now() + ms) / 1000);
    const recover = async (body: object) => (await used.harness.request('POST', `/webhook/${id}/recover`, body)).json;
    expect(await recover({ since: at(11.5 * hour), until: at(13 * hour) })).toEqual({ success: true, count: 0 });
    expect(await recover({ since: at(10.5 * hour), until: at(11.5 * hour) })).toEqual({ success: true, count: 2 });
    await expect
      .poll(async () => (await statuses(id)).toSorted())
      .toEqual(['delivered', 'delivered', 'delivered', 'exhausted']);
    expect(await recover({ since: at(9 * hour) })).toEqual({ success: true, count: 1 });
    await expect.poll(() => statuses(id)).toEqual(Array(4).fill('delivered'));
    expect(await recover({ since: at(9 * hour) })).toEqual({ success: true, count: 0 });
    const ids = used.receiver.received
      .filter(({ path }) => path === '/hook')
      .map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([5, 4]);
  });
});
