import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness({ variables: { ROLES: 'api,scheduler' } });
});
afterAll(() => tickets.stop());

const admin = { roleId: 1 };
const post = async (body: object = {}) =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'chat', ...body } })).json;
const remove = (id: number, headers: Record<string, string> = {}) =>
  tickets.request('DELETE', `/ticket/${id}`, { caller: admin, headers });
const search = async (body: object = {}) => (await tickets.request('POST', '/ticket/search', { body })).json;

describe('DELETE /ticket/{ticketId}', () => {
  // spec: 17.9, 25.1, 25.11, 37.4, 39.9
  test('requires the right deleteTicket, which role 1 has', async () => {
    const { id } = await post();
    expect((await tickets.request('DELETE', `/ticket/${id}`)).status).toBe(403);
    const caller = { permissions: ['deleteTicket'] };
    const response = await tickets.request('DELETE', `/ticket/${id}`, { caller });
    expect([response.status, response.json]).toEqual([200, { success: true }]);
    expect((await remove((await post()).id)).status).toBe(200);
  });

  // spec: 17.9, 25.2, 25.5, 25.7, 25.10
  test('leaves the id, the version and the events, and no text', async () => {
    const secret = 'Geheimnis';
    const { id } = await post({
      subject: secret,
      body: `<p>${secret}</p>`,
      from: secret,
      fromName: secret,
      externalTicketId: secret,
      contractId: secret,
      rawData: { a: secret },
      workitem: { a: secret },
    });
    await tickets.request('PATCH', '/ticket', {
      body: [{ id, summary: secret, customerId: secret, clientData: { a: secret } }],
    });
    await tickets.request('PATCH', '/ticket', { body: [{ id, refreshMode: 'full' }] });
    await remove(id);
    const document = await tickets.documentOf(id);
    expect(Object.keys(document).sort()).toEqual([
      ...['_id', 'deletedAt', 'notErasedBy', 'outbox', 'outboxSince', 'version', 'wordsRules'],
    ]);
    expect(document.version).toBe(3);
    expect(document.outbox.map(({ type }: { type: string }) => type)).toEqual([
      'ticket.created',
      'ticket.updated',
      'ticket.deleted',
    ]);
    for (const { collectionName } of await tickets.database.collections()) {
      const kept = JSON.stringify(await tickets.database.collection(collectionName).find().toArray());
      expect(kept, collectionName).not.toContain(secret);
      expect(kept, collectionName).not.toContain(Buffer.from(secret).toString('base64').slice(0, 8));
    }
  });

  // spec: 2.5, 25.5
  test('takes effect for every other request at once', async () => {
    const { id } = await post({ subject: 'weg', priority: 'urgent', dueBy: '2020-01-01' });
    const ofAll = await search();
    const notLow = { filters: [{ key: 't.spamStatus', comparator: 'not in', values: ['auto_spam'] }] };
    const unset = { filters: [{ key: 't.agentId', comparator: 'in', values: [null] }] };
    const before = await Promise.all([search(notLow), search(unset)]);
    await remove(id);
    expect((await tickets.request('GET', `/ticket/${id}`)).status).toBe(404);
    expect((await tickets.request('PATCH', `/ticket/${id}`, { body: { status: 'open' } })).status).toBe(404);
    const bulk = await tickets.request('PATCH', '/ticket', { body: [{ id, status: 'open' }] });
    expect([bulk.status, bulk.json.code]).toEqual([404, 'ticket_not_found']);
    expect(bulk.json.errors[0]).toMatchObject({ pointer: '#/0/id', code: 'unknown_ticket' });
    const next = { preferredDirection: 'next', ticketId: id };
    expect((await tickets.request('POST', '/ticket/getLatest', { body: next })).status).toBe(404);
    expect((await tickets.request('POST', '/ticket/getLatest', { body: {} })).json.earliest).not.toBe(id);
    for (const [body, total] of [
      [{}, ofAll.total - 1],
      [notLow, before[0]?.total - 1],
      [unset, before[1]?.total - 1],
      [{ filters: [{ key: 't.id', comparator: '=', value: id }] }, 0],
      [{ orderByField: 't.agentId' }, ofAll.total - 1],
      [{ ticketScope: 'skills' }, ofAll.total - 1],
    ] as const) {
      const found = await search(body);
      expect(found.total, JSON.stringify(body)).toBe(total);
      expect(found.tickets.map((ticket: { id: number }) => ticket.id)).not.toContain(id);
    }
    const again = await remove(id);
    expect([again.status, again.json.title]).toEqual([404, 'Ticket not found']);
    // Which id the ticket has depends on the tests before.
    expect(again.json.instance).toBe(`/ticket/${id}`);
    await golden('problem-404-ticket', { ...again.json, instance: '/ticket/4' });
  });

  test('requires the version of If-Match', async () => {
    const { id } = await post();
    expect((await remove(id, { 'if-match': '"2"' })).status).toBe(412);
    expect((await remove(id, { 'if-match': '"1"' })).status).toBe(200);
  });

  test('frees the external id: a POST with it makes a new ticket', async () => {
    const first = await post({ externalTicketId: 'frei' });
    await remove(first.id);
    const second = await post({ externalTicketId: 'frei' });
    expect(second.id).not.toBe(first.id);
    expect((await post({ externalTicketId: 'frei' })).id).toBe(second.id);
  });

  test('whose process died before it freed the external id is finished by the scheduler, or by the next POST', async () => {
    for (const wait of [true, false]) {
      const first = await post({ externalTicketId: 'halb' });
      await remove(first.id);
      const claims = tickets.database.collection<{ _id: string }>('externalIds');
      await claims.insertOne({ _id: 'halb', ticketId: first.id } as never);
      if (wait) {
        await tickets.database
          .collection<{ _id: number }>('tickets')
          .updateOne({ _id: first.id }, { $set: { notErasedBy: ['tickets'] } as object });
        // A process runs all tasks when it starts.
        const other = await tickets.startInstance();
        await expect.poll(() => claims.findOne({ _id: 'halb' })).toBeNull();
        await other.stop();
      }
      const second = await post({ externalTicketId: 'halb' });
      expect(second.id).not.toBe(first.id);
      await remove(second.id);
    }
  });

  test('at the same time as changes: those that get 200 were applied before it', async () => {
    const { id } = await post();
    const changes = Array.from({ length: 20 }, (_, index) =>
      tickets.request('PATCH', `/ticket/${id}`, { body: { contractId: `V${index}` } }),
    );
    const removed = await remove(id);
    expect(removed.status).toBe(200);
    const responses = await Promise.all(changes);
    const applied = responses.filter(({ status }) => status === 200).length;
    expect(responses.every(({ status }) => status === 200 || status === 404)).toBe(true);
    expect((await tickets.documentOf(id)).version).toBe(2 + applied);
  });
});
