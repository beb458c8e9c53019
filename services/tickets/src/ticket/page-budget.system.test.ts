import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { create as createMessage, toBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import {
  GetTicketRequestSchema,
  TicketService,
  UpdateTicketRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { maxPageBytes } from '@ticketing/store/paging/page-budget.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';

let tickets: TicketsHarness;
const mebibyte = 1024 * 1024;
const text = 'x'.repeat(mebibyte - 100);

beforeAll(async () => {
  tickets = await startHarness();
  for (let nth = 0; nth < 18; nth++) await create({ subject: 'raw', rawData: { text, nth } });
}, 60_000);
afterAll(() => tickets.stop());

const create = async (body: object): Promise<number> =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'phone', ...body } })).json.id;
const search = (body: object, query = '') => tickets.request('POST', `/ticket/search${query}`, { body });
const withRawData = (body: object) => search(body, '?includeRawData=true');
const limitIn = (detail: string) => Number(/a limit of (\d+) fits$/.exec(detail)?.[1]);

describe('a page of tickets with large raw data', () => {
  test.each([{}, { limit: 500 }, { limit: 18 }, { offset: 1, limit: 16 }])(
    // guarantee: B3
    'that is too large is refused, and the limit that the error names fits: %j',
    async (body) => {
      const refused = await withRawData(body);
      expect([refused.status, refused.json.code, refused.json.errors[0].pointer]).toEqual([
        400,
        'page_too_large',
        '#/limit',
      ]);
      const limit = limitIn(refused.json.detail);
      expect(limit).toBe(15);
      const { status, json } = await withRawData({ ...body, limit });
      expect([status, json.tickets.length, json.total]).toEqual([200, limit, 18]);
      expect((await withRawData({ ...body, limit: limit + 1 })).status).toBe(400);
    },
  );

  test('has the same tickets as pages of one ticket each, in the same order, and its cursor continues it', async () => {
    const page = (await withRawData({ limit: 10, orderByField: 't.createdAt' })).json;
    const rest = (await withRawData({ limit: 10, orderByField: 't.createdAt', cursor: page.nextCursor })).json;
    expect([page.tickets.length, rest.tickets.length, rest.nextCursor]).toEqual([10, 8, null]);
    for (const [offset, ticket] of [...page.tickets, ...rest.tickets].entries()) {
      const alone = (await withRawData({ limit: 1, offset, orderByField: 't.createdAt' })).json;
      expect(alone.tickets).toEqual([ticket]);
      expect(Object.keys(alone)).toEqual(Object.keys(page));
      expect(Object.keys(alone.tickets[0])).toEqual(Object.keys(ticket));
      expect(ticket.rawData.text).toBe(text);
    }
  });

  // spec: 6.56
  test('leaves out raw data as before if it is not asked for', async () => {
    const { status, json } = await search({ limit: 500 });
    expect([status, json.tickets.length, 'rawData' in json.tickets[0]]).toEqual([200, 18, false]);
  });

  // guarantee: B4
  test('gives its bytes back, also when its caller has gone: 4 one after the other, then 3 at once', async () => {
    const statuses: number[] = [];
    for (let nth = 0; nth < 4; nth++) statuses.push((await withRawData({ limit: 15 })).status);
    const disconnecting = new AbortController();
    const token = await tickets.identity.internalToken('tickets', testCaller({}));
    const left = Array.from({ length: 4 }, () =>
      fetch(`${tickets.url}/ticket/search?includeRawData=true`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"limit":15}',
        signal: disconnecting.signal,
      }).then(({ status }) => status),
    );
    await Promise.any(left);
    disconnecting.abort();
    await Promise.allSettled(left);
    const at = Array.from({ length: 3 }, async () => (await withRawData({ limit: 15 })).status);
    expect([...statuses, ...(await Promise.all(at))]).toEqual(Array(7).fill(200));
  });

  // guarantee: B6
  test('does not keep other callers waiting if its own caller does not read it', async () => {
    const slow: Socket[] = [];
    for (const profileId of [101, 102, 103]) {
      const token = await tickets.identity.internalToken('tickets', testCaller({ profileId }));
      const socket = connectTcp(Number(new URL(tickets.url).port), '127.0.0.1');
      slow.push(socket);
      socket.write(
        'POST /ticket/search?includeRawData=true HTTP/1.1\r\nhost: tickets\r\ncontent-type: application/json\r\n' +
          `authorization: Bearer ${token}\r\ncontent-length: 12\r\n\r\n{"limit":15}`,
      );
      // The first bytes only.
      await once(socket, 'readable');
    }
    expect((await withRawData({ limit: 15 })).status).toBe(200);
    for (const socket of slow) socket.destroy();
  });

  // guarantee: B4, B5
  test.each(['connect', 'grpc'] as const)('is bounded, and gives its bytes back, by %s too', async (protocol) => {
    const token = await tickets.identity.internalToken('tickets', testCaller({}));
    const authorise = (next: (request: never) => Promise<never>) => (request: { header: Headers }) => {
      request.header.set('authorization', `Bearer ${token}`);
      return next(request as never);
    };
    const interceptors = [authorise as never];
    const { ports } = tickets.running;
    const transport =
      protocol === 'connect'
        ? createConnectTransport({ baseUrl: tickets.url, httpVersion: '1.1', interceptors })
        : createGrpcTransport({ baseUrl: `http://127.0.0.1:${ports.grpc}`, interceptors });
    const client = createClient(TicketService, transport);
    const ofOpenShape = 'objects of open shape in the results have more than 1048576 bytes together; a limit of 1 fits';
    await expect(client.searchTickets({ includeRawData: true })).rejects.toThrow(ofOpenShape);
    await expect(client.searchTickets({ includeRawData: true, limit: 2 })).rejects.toThrow(ofOpenShape);
    expect((await client.searchTickets({ includeRawData: true, limit: 1 })).tickets).toHaveLength(1);
    const ticketId = await create({ subject: 'long', body: 'x'.repeat(3 * mebibyte) });
    for (let nth = 0; nth < 4; nth++) {
      expect((await client.getTicket({ ticketId })).ticket?.bodyPlain).toHaveLength(3 * mebibyte);
    }
    await tickets.request('DELETE', `/ticket/${ticketId}`, { caller: { roleId: 1 } });
  });
});

// guarantee: B6
test('a large ticket that a client does not read over gRPC keeps only its own caller waiting', async () => {
  const ticketId = await create({ subject: 'unread', body: 'x'.repeat(5 * mebibyte), rawData: { text } });
  const message = Buffer.from(toBinary(GetTicketRequestSchema, createMessage(GetTicketRequestSchema, { ticketId })));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const sessions: ClientHttp2Session[] = [];
  for (const profileId of [201, 202, 203]) {
    const session = connectHttp2(`http://127.0.0.1:${tickets.running.ports.grpc}`);
    sessions.push(session);
    const request = session.request({
      ':method': 'POST',
      ':path': `/${TicketService.typeName}/GetTicket`,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer ${await tickets.identity.internalToken('tickets', testCaller({ profileId }))}`,
    });
    request.end(Buffer.concat([prefix, message]));
    // The rest stays in the server, because the window of the stream is full.
    await once(request, 'response');
    await once(request, 'readable');
  }
  expect((await tickets.request('GET', `/ticket/${ticketId}?includeRawData=true`)).status).toBe(200);
  for (const session of sessions) session.destroy();
  await tickets.request('DELETE', `/ticket/${ticketId}`, { caller: { roleId: 1 } });
}, 30_000);

// guarantee: B3
test('a page that is large for another reason than raw data is bounded too, also when it is the first one', async () => {
  const ids: number[] = [];
  for (let nth = 0; nth < 17; nth++) ids.push(await create({ subject: 'client' }));
  for (const id of ids) {
    const body = [{ id, clientData: { text } }];
    expect((await tickets.request('PATCH', '/ticket', { body })).status).toBe(200);
  }
  const filters = [{ key: 't.subject', comparator: '=', value: 'client' }];
  const other = await tickets.startInstance();
  const url = `http://127.0.0.1:${other.ports.http}`;
  for (const base of [url, url, tickets.url]) {
    const refused = await tickets.request('POST', '/ticket/search', { url: base, body: { filters } });
    expect([refused.status, refused.json.code, limitIn(refused.json.detail)]).toEqual([400, 'page_too_large', 15]);
    const page = await tickets.request('POST', '/ticket/search', { url: base, body: { filters, limit: 15 } });
    expect(page.json.tickets.map((ticket: { id: number }) => ticket.id)).toEqual(ids.slice(2).reverse());
  }
  await other.stop();
});

// guarantee: H4
test('a large ticket counts as a page too, and a write is not refused for it', async () => {
  const database = await tickets.openDatabase();
  const taken: number[] = [];
  const context = newProcess(tickets, database, 0, {
    pages: {
      async take(_, bytes) {
        taken.push(bytes);
        if (isFull) throw new DomainError('unavailable', 'too_much_at_once', 'full');
      },
    },
  });
  let isFull = false;
  const call = testCall();
  const ticketId = await create({ subject: 'single', body: 'x'.repeat(mebibyte), rawData: { text } });
  const get = (includeRawData: boolean) =>
    context.getTicket(call, createMessage(GetTicketRequestSchema, { ticketId, includeRawData }));
  await get(false);
  await get(true);
  const [without = 0, withRaw = 0] = taken;
  expect(without).toBeGreaterThan(2 * mebibyte);
  expect(withRaw - without).toBe(JSON.stringify({ text }).length);
  isFull = true;
  await expect(get(true)).rejects.toMatchObject({ reason: 'too_much_at_once' });
  const patch = { ticketId, contractId: 'changed', updateMask: { paths: ['contract_id'] } };
  const { ticket } = await context.updateTicket(call, createMessage(UpdateTicketRequestSchema, patch));
  expect([ticket?.contractId, ticket?.version, taken.length]).toEqual(['changed', 2, 4]);
  await database.close();
});

// guarantee: B8
test('snapshots of tickets that are too large together are returned in part, with the ids that remain', async () => {
  const transport = createConnectTransport({
    baseUrl: tickets.url,
    httpVersion: '1.1',
    interceptors: [
      (next) => async (request) => {
        const token = await tickets.identity.internalToken('tickets', serviceCaller('reporting'), 'reporting');
        request.header.set('authorization', `Bearer ${token}`);
        return next(request);
      },
    ],
  });
  const client = createClient(SnapshotService, transport);
  const documents = await tickets.database.collection('tickets').find({ subject: 'raw' }).toArray();
  const ids = documents.map(({ _id }) => Number(_id));
  const read: number[] = [];
  for (let remaining = [...ids, 999_999]; remaining.length > 0; ) {
    const response = await client.getTicketSnapshots({ ticketIds: remaining });
    expect(response.snapshots.length).toBeLessThan(9);
    read.push(...response.snapshots.map(({ ticket }) => ticket?.id ?? 0));
    remaining = response.remainingIds;
  }
  expect(read).toEqual(ids);
  const [largest] = ids;
  const body = 'ä'.repeat(2 * mebibyte);
  await tickets.database
    .collection<{ _id: number }>('tickets')
    .updateOne({ _id: largest ?? 0 }, { $set: { body, bodyPlain: body } });
  const response = await client.getTicketSnapshots({ ticketIds: ids });
  expect(response.snapshots.map(({ ticket }) => ticket?.id)).toEqual([largest]);
  expect(response.remainingIds).toEqual(ids.slice(1));
  expect(4 * mebibyte * 2 + mebibyte).toBeLessThan(maxPageBytes);
});
