import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { HistoryService } from '@ticketing/contracts/ticketing/tickets/v1/history_service_pb.ts';
import { HistoryEntryType, HistorySubChannel } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { golden } from '@ticketing/testkit/golden.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import mongoose from 'mongoose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { insertTickets, randomTickets } from '../../test/naive-ticket.ts';

let tickets: TicketsHarness;
let client: ReturnType<typeof clientOf>;

beforeAll(async () => {
  tickets = await startHarness();
  client = clientOf({ permissions: ['recordHistory'] });
});
afterEach(() => {
  mongoose.set('debug', false);
});
afterAll(() => tickets.stop());

/** A client of the RPC with an internal token of a caller. */
function clientOf(caller: Parameters<typeof testCaller>[0]) {
  const transport = createConnectTransport({
    baseUrl: tickets.url,
    httpVersion: '1.1',
    interceptors: [
      (next) => async (request) => {
        const token = await tickets.identity.internalToken('tickets', testCaller(caller));
        request.header.set('authorization', `Bearer ${token}`);
        return next(request);
      },
    ],
  });
  return createClient(HistoryService, transport);
}

/** Creates a ticket, and sets the fields that a creation cannot set. */
async function post({ customerId, summary, ...body }: Record<string, unknown>): Promise<number> {
  const { id } = (await tickets.request('POST', '/ticket', { body: { channel: 'phone', ...body } })).json;
  const rest = { ...(customerId ? { customerId } : {}), ...(summary ? { summary } : {}) };
  if (Object.keys(rest).length > 0) await tickets.request('PATCH', '/ticket', { body: [{ id, ...rest }] });
  return id;
}
const history = (id: number, query = '') => tickets.request('GET', `/ticket/${id}/history${query}`);
const at = (text: string) => ({ seconds: BigInt(Date.parse(text) / 1000), nanos: 0 });
const delivery = { type: HistoryEntryType.DELIVERY };
const idsOf = ({ json }: { json: { history: { id: number; type: string }[] } }) =>
  json.history.map(({ id, type }) => `${type} ${id}`);
const problemOf = (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => Promise.reject(new Error('the call was not refused')),
    (error: unknown) => ConnectError.from(error),
  );

describe('the history of a ticket', () => {
  // spec: 9.1, 9.3, 9.4, 9.5, 9.6, 9.7, 28.2, 28.3
  test('has the tickets and entries of its customer or contract, newest first', async () => {
    const own = { customerId: 'K-1', contractId: 'V-1', createdAt: '2026-03-01 00:00:00' };
    const id = await post({ ...own, subject: 'Zähler', summary: 'kurz' });
    await post({ ...own, customerId: 'K-2', channel: 'chat', status: 'closed', createdAt: '2026-01-01 00:00:00' });
    await post({ ...own, contractId: 'V-2', status: 'pending', createdAt: '2026-02-01 00:00:00' });
    await post({ ...own, customerId: 'K-2', contractId: 'V-2' });
    const entry = { customerId: 'K-1', createdAt: at('2026-02-15T00:00:00Z') };
    const grid = { subChannel: HistorySubChannel.GRID_OPERATOR, subject: 'gridMessage.moveIn', url: 'https://grid/1' };
    await client.recordHistoryEntry({ ...entry, ...grid, externalId: 'a', type: HistoryEntryType.GRID_MESSAGE });
    const ofContract = { contractId: 'V-1', createdAt: at('2026-04-01T00:00:00Z') };
    await client.recordHistoryEntry({ externalId: 'b', type: HistoryEntryType.PAYMENT, ...ofContract });
    await client.recordHistoryEntry({ externalId: 'c', ...delivery, customerId: 'K-2' });
    const response = await history(id);
    expect(response.status).toBe(200);
    await golden('history', response.json);
  });

  test('is the ticket itself if it has no customer and no contract', async () => {
    const id = await post({});
    await post({});
    expect((await history(id)).json).toMatchObject({ success: true, total: 1, totalOpenedTickets: 1 });
    expect(idsOf(await history(id))).toEqual([`ticket ${id}`]);
  });

  test('is 404 for a ticket that does not exist or was deleted, and deleted tickets are not in it', async () => {
    const id = await post({ customerId: 'K-3' });
    const other = await post({ customerId: 'K-3' });
    expect((await history(other)).json).toMatchObject({ total: 2, totalOpenedTickets: 2 });
    await tickets.request('DELETE', `/ticket/${id}`, { caller: { roleId: 1 } });
    expect((await history(other)).json).toMatchObject({ total: 1, totalOpenedTickets: 1, history: [{ id: other }] });
    for (const missing of [id, 999_999]) {
      const { status, json } = await history(missing);
      expect([status, json.code]).toEqual([404, 'ticket_not_found']);
    }
  });

  // spec: 28.1
  test('has pages of 1 to 1000 lines', async () => {
    const id = await post({});
    for (const limit of [1, 1000]) expect((await history(id, `?limit=${limit}`)).status).toBe(200);
    for (const limit of [0, 1001]) {
      expect(violationsOf(await history(id, `?limit=${limit}`))).toEqual(['#/query/limit out_of_range']);
    }
    expect(violationsOf(await history(id, '?offset=-1'))).toEqual(['#/query/offset out_of_range']);
    expect((await history(id, '?offset=1')).json).toEqual({
      ...{ success: true, total: 1, totalOpenedTickets: 1, history: [] },
    });
  });

  test('has in pages of any size the same lines as at once', async () => {
    const first = await post({ customerId: 'K-4' });
    const drawn = randomTickets(60, 7).map((ticket) => ({ ...ticket, id: first + ticket.id }));
    await insertTickets(
      tickets,
      drawn.map((ticket) => ({ ...ticket, customerId: ticket.id % 2 ? 'K-4' : ticket.customerId })),
    );
    for (let nth = 0; nth < 25; nth++) {
      const createdAt = { seconds: BigInt(drawn[nth]?.createdAt ?? 0), nanos: 0 };
      await client.recordHistoryEntry({ externalId: `p${nth}`, ...delivery, customerId: 'K-4', createdAt });
    }
    const all = await history(first, '?limit=1000');
    const tie = (line: { createdAt: string; type: string; id: number }) =>
      `${line.createdAt} ${line.type === 'ticket' ? 1 : 0} ${String(line.id).padStart(9, '0')}`;
    const expected = all.json.history.toSorted((left: never, right: never) => (tie(left) < tie(right) ? 1 : -1));
    expect(all.json.history).toEqual(expected);
    expect([all.json.total, all.json.history.length]).toEqual([56, 56]);
    const open = drawn.filter(({ id, status }) => id % 2 === 1 && status === 'open').length;
    expect(all.json.totalOpenedTickets).toBe(open + 1);
    for (const limit of [1, 7, 55, 56]) {
      const pages: string[] = [];
      for (let offset = 0; offset < 57; offset += limit) {
        const page = await history(first, `?limit=${limit}&offset=${offset}`);
        expect(page.json.total).toBe(56);
        pages.push(...idsOf(page));
      }
      expect(pages).toEqual(idsOf(all));
    }
  });

  test('that is too large for a page is refused with a limit that fits', async () => {
    const first = await post({ customerId: 'K-5', subject: 'groß' });
    const [template] = randomTickets(1, 1);
    if (!template) throw new Error('no ticket was drawn');
    const summary = 'ü'.repeat(10_000);
    const large = Array.from({ length: 900 }, (_, nth) => ({
      ...{ ...template, id: first + 1 + nth, customerId: 'K-5', contractId: null, subject: null, summary },
    }));
    await insertTickets(tickets, large);
    const { status, json } = await history(first, '?limit=1000');
    expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'page_too_large', '#/query/limit']);
    const limit = Number(/a limit of (\d+) fits$/.exec(json.detail)?.[1]);
    expect((await history(first, `?limit=${limit}`)).json.history).toHaveLength(limit);
    expect((await history(first, `?limit=${limit + 1}`)).status).toBe(400);
  });
});

test('neither the counts nor the place of a deep page read a document', async () => {
  // The output of explain differs between servers.
  if (process.env.MONGODB_URI) return;
  const first = await post({ customerId: 'K-6', contractId: 'V-6' });
  const drawn = randomTickets(1500, 3).map((ticket, nth) => ({
    ...ticket,
    id: first + ticket.id,
    ...(nth < 1200 ? { customerId: 'K-6', contractId: nth % 3 ? 'V-6' : null } : {}),
  }));
  await insertTickets(tickets, drawn);
  const commands: { operation: string; first: object; second: object }[] = [];
  mongoose.set('debug', (collection: string, operation: string, first: object, second: object) => {
    if (collection === 'tickets') commands.push({ operation, first, second });
  });
  const page = await history(first, '?limit=10&offset=1190');
  mongoose.set('debug', false);
  expect(page.json).toMatchObject({ total: 1201 });
  const collection = tickets.database.collection('tickets');
  const count = commands.find(({ operation }) => operation === 'aggregate');
  const keys = commands.find(({ operation, second }) => operation === 'find' && 'sort' in second);
  const plans = await Promise.all([
    collection.aggregate((count?.first ?? []) as object[]).explain('executionStats'),
    collection.find(keys?.first ?? {}, keys?.second).explain('executionStats'),
  ]);
  const [counted, found] = plans.map((plan) => (plan.stages?.[0].$cursor ?? plan).executionStats);
  expect([counted.totalDocsExamined, found.totalDocsExamined]).toEqual([0, 0]);
  expect(found.nReturned).toBe(10);
  expect(JSON.stringify(plans)).not.toMatch(/"stage":"(SORT|COLLSCAN)"/);
});

describe('an entry', () => {
  test('with a known external id is replaced, keeps its id and, unless another is given, its time', async () => {
    const ticket = await post({ customerId: 'K-7', createdAt: '2020-01-01 00:00:00' });
    const given = { externalId: 'again', ...delivery, customerId: 'K-7' };
    const past = { createdAt: at('2026-01-01T00:00:00Z') };
    const { id } = await client.recordHistoryEntry({ ...given, ...past, subject: 'eins', url: 'https://a/1' });
    expect(await client.recordHistoryEntry({ ...given, subject: 'zwei' })).toMatchObject({ id });
    const lines = (await history(ticket)).json.history;
    expect(lines).toMatchObject([{ id, subject: 'zwei', url: null, createdAt: '2026-01-01 00:00:00' }, { id: ticket }]);
    const later = { createdAt: at('2026-02-01T00:00:00Z') };
    await client.recordHistoryEntry({ ...given, ...later, type: HistoryEntryType.PAYMENT });
    expect((await history(ticket)).json.history[0]).toMatchObject({ id, type: 'payment', subject: null });
    const moved = { ...given, customerId: 'K-8' };
    await client.recordHistoryEntry(moved);
    expect((await history(ticket)).json.total).toBe(1);
  });

  test('that is recorded 20 times at once is one', async () => {
    const ticket = await post({ contractId: 'V-9' });
    const given = { externalId: 'at once', ...delivery, contractId: 'V-9' };
    const ids = await Promise.all(Array.from({ length: 20 }, () => client.recordHistoryEntry(given)));
    expect(new Set(ids.map(({ id }) => id)).size).toBe(1);
    expect((await history(ticket)).json.total).toBe(2);
  });

  // spec: 9.2
  test('needs a type other than ticket, and a customer or a contract', async () => {
    const refused = async (request: object) => (await problemOf(client.recordHistoryEntry(request))).rawMessage;
    const valid = { externalId: 'x', ...delivery, customerId: 'K-1' };
    expect(await refused({ ...valid, type: HistoryEntryType.TICKET })).toContain('#/type');
    expect(await refused({ ...valid, customerId: undefined })).toContain('#/customerId');
    expect(await refused({ ...valid, externalId: undefined })).toContain('#/externalId');
    expect(await refused({ ...valid, externalId: 'x'.repeat(321) })).toContain('#/externalId');
    expect(await refused({ ...valid, type: undefined })).toContain('#/type');
    expect(await refused({ ...valid, customerId: 'x'.repeat(51) })).toContain('#/customerId');
    expect(await refused({ ...valid, url: 'no url' })).toContain('#/url');
    for (const url of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'https://kim@example.com/']) {
      expect(await refused({ ...valid, url }), url).toContain('#/url');
    }
    for (const seconds of [253_402_300_800n, -62_135_596_801n]) {
      expect(await refused({ ...valid, createdAt: { seconds, nanos: 0 } })).toContain('#/createdAt');
    }
    await client.recordHistoryEntry({ ...valid, externalId: 'x'.repeat(320), customerId: 'x'.repeat(50) });
  });

  test('is recorded with the right recordHistory only', async () => {
    const valid = { externalId: 'y', ...delivery, customerId: 'K-1' };
    const { code } = await problemOf(clientOf({ permissions: ['manageTags'] }).recordHistoryEntry(valid));
    expect(code).toBe(Code.PermissionDenied);
  });
});
