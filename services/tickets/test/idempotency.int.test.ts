import { createHash } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { openIdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import { golden } from '@ticketing/testkit/golden.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import mongoose, { type mongo } from 'mongoose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
let records: mongo.Collection<{ _id: string; state: string; lease: { expiresAt: Date }; expiresAt: Date }>;

beforeAll(async () => {
  tickets = await startHarness();
  records = tickets.database.collection('idempotencyKeys');
});
afterAll(() => tickets.stop());

const send = (key: string, method: string, path: string, body: unknown, caller = {}): Promise<TestResponse> =>
  tickets.request(method, path, { body, caller, headers: { 'idempotency-key': key } });
const post = (key: string, body: object = {}) => send(key, 'POST', '/ticket', { channel: 'chat', ...body });
const callerDigest = (name: string) => createHash('sha256').update(`caller\0${name}`).digest('base64url');
const isReplayed = ({ headers }: TestResponse) => headers.get('idempotency-replayed') === 'true';
const countOf = (query: object) => tickets.database.collection('tickets').countDocuments(query);

/** Makes the last record look as if its process had died: its state is `running`, and its lease has expired. */
async function abandonLast(): Promise<void> {
  const [last] = await records.find().sort({ expiresAt: -1 }).limit(1).toArray();
  const abandoned = { state: 'running', response: null, 'lease.expiresAt': new Date(0) };
  await records.updateOne({ _id: last?._id ?? '' }, { $set: abandoned });
}

describe('Idempotency-Key', () => {
  test('POST /ticket: the same response, byte for byte, and one ticket', async () => {
    const first = await post('"post-1"', { subject: 'einmal', rawData: { b: 1, a: [null] } });
    const second = await post('"post-1"', { subject: 'einmal', rawData: { b: 1, a: [null] } });
    expect([first.status, second.status, isReplayed(first), isReplayed(second)]).toEqual([200, 200, false, true]);
    expect(JSON.stringify(second.json)).toBe(JSON.stringify(first.json));
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(await countOf({ subject: 'einmal' })).toBe(1);
  });

  test('the stored response stays the same when the ticket changes', async () => {
    const { id } = (await post('patch-0')).json;
    const path = `/ticket/${id}`;
    const first = await send('patch-1', 'PATCH', path, { priority: 'high' });
    await send('patch-2', 'PATCH', path, { priority: 'low' });
    const again = await send('patch-1', 'PATCH', path, { priority: 'high' });
    expect([isReplayed(again), again.json]).toEqual([true, first.json]);
    expect((await tickets.request('GET', path)).json).toMatchObject({ priority: 'low', version: 3 });
  });

  test('the same key with another body, path, query or method is 422', async () => {
    const { id } = (await post('other-1')).json;
    const refused = await post('other-1', { subject: 'anders' });
    expect(refused.status).toBe(422);
    await golden('problem-422', refused.json);
    expect((await send('other-1', 'POST', '/ticket?process=false', { channel: 'chat' })).status).toBe(422);
    expect((await send('other-1', 'PATCH', `/ticket/${id}`, { priority: 'high' })).status).toBe(422);
    expect((await send('other-1', 'POST', '/tag', { name: 'x' }, { roleId: 1 })).status).toBe(422);
  });

  test('20 concurrent requests create one ticket; the others get its response, or 409 with Retry-After', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => post('at-once', { subject: 'zugleich' })));
    expect(await countOf({ subject: 'zugleich' })).toBe(1);
    for (const { status, json, headers } of responses) {
      expect([200, 409]).toContain(status);
      if (status === 409) expect([json.code, headers.get('retry-after')]).toEqual(['idempotency_key_running', '1']);
    }
    expect(responses.filter((response) => response.status === 200 && !isReplayed(response))).toHaveLength(1);
  });

  test('belongs to one caller', async () => {
    const first = await send('mine', 'POST', '/ticket', { channel: 'chat' }, { profileId: 81 });
    const second = await send('mine', 'POST', '/ticket', { channel: 'chat' }, { profileId: 82 });
    expect(second.json.id).not.toBe(first.json.id);
  });

  test('a refused request frees its key', async () => {
    expect((await post('refused', { channel: 'fax' })).status).toBe(400);
    expect((await post('refused', { tags: [999_999] })).status).toBe(400);
    expect((await post('refused')).status).toBe(200);
  });

  test('expires after 24 hours', async () => {
    const first = await post('old');
    await records.updateMany({}, { $set: { expiresAt: new Date(0) } });
    const second = await post('old');
    expect([second.status, isReplayed(second)]).toEqual([200, false]);
    expect(second.json.id).not.toBe(first.json.id);
  });

  test('expires after 24 hours for changes too: the request is then applied again, although the ticket still records it', async () => {
    const { json } = await post('for-changes');
    const patches = [{ priority: 'high' }, { status: 'closed' }];
    for (const [index, patch] of patches.entries()) {
      const response = await send('change', 'PATCH', `/ticket/${json.id}`, patch);
      expect([response.status, isReplayed(response), response.json.ticket]).toEqual([
        200,
        false,
        expect.objectContaining({ ...patch, version: index + 2 }),
      ]);
      await records.updateMany({}, { $set: { expiresAt: new Date(0) } });
    }
    for (const status of ['open', 'closed']) {
      expect((await send('bulk', 'PATCH', '/ticket', [{ id: json.id, status }])).status).toBe(200);
      expect((await tickets.request('GET', `/ticket/${json.id}`)).json.status).toBe(status);
      await records.updateMany({}, { $set: { expiresAt: new Date(0) } });
    }
  });

  test('stores no response about a ticket that was deleted before the response was stored', async () => {
    const connection = await mongoose
      .createConnection(tickets.environment.TICKETING_TICKETS_MONGODB_URI ?? '', {
        dbName: tickets.database.databaseName,
      })
      .asPromise();
    const store = openIdempotencyStore(connection);
    const sender = { name: 'x', maxBytes: 1_000 };
    await store.eraseAbout({ kind: 'Ticket', id: 5 });
    for (const [key, ids, state] of [
      ['alive', [4], 'done'],
      ['deleted', [4, 5], 'erased'],
    ] as const) {
      const found = await store.claim(key, 'print', sender);
      if (found.state !== 'claimed') throw new Error('the key is taken');
      await store.complete(
        found.claim,
        Buffer.from('text of the ticket'),
        ids.map((id) => ({ kind: 'Ticket', id })),
      );
      expect((await store.claim(key, 'print', sender)).state).toBe(state);
    }
    await connection.close();
  });

  test('a large response is stored too, and is removed with its ticket', async () => {
    const parts = tickets.database.collection('idempotencyParts');
    const body = {
      subject: 'groß',
      body: 'Vertrauliches & mehr. '.repeat(100_000),
      rawData: { a: 'x'.repeat(1_000_000) },
    };
    const first = await post('large', body);
    const second = await post('large', body);
    expect([first.status, second.status, isReplayed(first), isReplayed(second)]).toEqual([200, 200, false, true]);
    expect(JSON.stringify(second.json) === JSON.stringify(first.json)).toBe(true);
    expect(await countOf({ subject: 'groß' })).toBe(1);
    expect(await parts.countDocuments()).toBeGreaterThan(1);
    await tickets.request('DELETE', `/ticket/${first.json.id}`, { caller: { roleId: 1 } });
    expect((await post('large', body)).status).toBe(404);
    expect(await parts.countDocuments()).toBe(0);
  });

  // guarantee: B10
  test('is refused with 429 before anything is changed, if the stored responses of the caller are too large', async () => {
    const caller = { profileId: 4711 };
    const create = (key: string) => send(key, 'POST', '/ticket', { channel: 'chat', subject: 'zu viel' }, caller);
    const counts = tickets.database.collection<{ _id: string; owner: string; bytes: number }>('idempotencyBytes');
    expect((await create('within')).status).toBe(200);
    // Counts what another process has stored: 256 MiB for each caller that is known.
    const owner = callerDigest('user 4711');
    const expiresAt = new Date(Date.now() + 3_600_000);
    await counts.insertOne({ _id: `${owner}/0`, owner, bytes: 256 * 1024 ** 2, expiresAt } as never);
    const other = await tickets.startInstance();
    const url = `http://127.0.0.1:${other.ports.http}`;
    const headers = { 'idempotency-key': 'beyond' };
    const request = { body: { channel: 'chat', subject: 'zu viel' }, url, caller };
    const refused = await tickets.request('POST', '/ticket', { ...request, headers });
    expect([refused.status, refused.json.code]).toEqual([429, 'idempotency_budget_exceeded']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500);
    expect(await countOf({ subject: 'zu viel' })).toBe(1);
    const replayed = await tickets.request('POST', '/ticket', { ...request, headers: { 'idempotency-key': 'within' } });
    expect([replayed.status, isReplayed(replayed)]).toEqual([200, true]);
    expect((await tickets.request('POST', '/ticket', request)).status).toBe(200);
    await counts.updateOne({ _id: `${owner}/0` }, { $set: { bytes: 256 * 1024 ** 2 - 1_000_000 } });
    const third = await tickets.startInstance();
    const below = { ...request, headers, url: `http://127.0.0.1:${third.ports.http}` };
    expect((await tickets.request('POST', '/ticket', below)).status).toBe(200);
    await other.stop();
    await third.stop();
  });

  test('has no effect on requests that only read', async () => {
    for (let time = 0; time < 2; time++) {
      for (const path of ['/ticket/search', '/ticket/getLatest']) {
        const response = await send('read', 'POST', path, time ? { filters: [] } : {});
        expect([response.status, isReplayed(response)]).toEqual([200, false]);
      }
    }
  });

  test('is 400 if it is malformed', async () => {
    const refused = await post('a b');
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_idempotency_key']);
  });

  test('works over RPC too, and between REST and RPC', async () => {
    const token = await tickets.identity.issuerToken();
    const client = createClient(TicketService, createConnectTransport({ baseUrl: tickets.url, httpVersion: '1.1' }));
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'rpc-1' };
    const replayed: (string | null)[] = [];
    const onHeader = (header: Headers) => void replayed.push(header.get('idempotency-replayed'));
    const create = () => client.createTicket({ channel: 6, subject: 'rpc' }, { headers, onHeader });
    const [first, second] = [await create(), await create()];
    expect(second.ticket).toEqual(first.ticket);
    expect(replayed).toEqual([null, 'true']);
    expect(await countOf({ subject: 'rpc' })).toBe(1);
  });

  // spec: 39.5
  test('a repeated request is 404 after its ticket was deleted, and the stored response is removed', async () => {
    const { id } = (await post('gone', { subject: 'Vertrauliches' })).json;
    await tickets.request('DELETE', `/ticket/${id}`, { caller: { roleId: 1 } });
    expect((await post('gone', { subject: 'Vertrauliches' })).status).toBe(404);
    const withResponse = await records.find({ response: { $ne: null } } as object).toArray();
    expect(withResponse).not.toEqual([]);
    for (const { response } of withResponse as unknown as { response: mongo.Binary }[]) {
      expect(Buffer.from(response.buffer).toString('latin1')).not.toContain('Vertrauliches');
    }
  });
});

describe('a request whose process died between its change and its response', () => {
  test('POST /ticket makes no second ticket', async () => {
    const first = await post('dead-post', { subject: 'verwaist' });
    await abandonLast();
    const again = await post('dead-post', { subject: 'verwaist' });
    expect([again.status, again.json.id, isReplayed(again)]).toEqual([200, first.json.id, false]);
    expect(isReplayed(await post('dead-post', { subject: 'verwaist' }))).toBe(true);
    expect(await countOf({ subject: 'verwaist' })).toBe(1);
  });

  test('POST /ticket with an external id changes the ticket once', async () => {
    for (const subject of ['first', 'second']) {
      const body = { externalTicketId: 'dead-upsert', subject };
      const first = await post(`dead-upsert-${subject}`, body);
      await post(`between-${subject}`, { externalTicketId: 'dead-upsert', subject: 'dazwischen' });
      await records.updateMany({}, { $set: { state: 'running', response: null, 'lease.expiresAt': new Date(0) } });
      const again = await post(`dead-upsert-${subject}`, body);
      expect(again.json).toMatchObject({ id: first.json.id, subject: 'dazwischen', version: first.json.version + 1 });
      await records.deleteMany({});
    }
  });

  test('PATCH /ticket/{ticketId} is not applied again', async () => {
    const { id } = (await post('dead-0')).json;
    const path = `/ticket/${id}`;
    await send('dead-patch', 'PATCH', path, { status: 'closed' });
    await abandonLast();
    await tickets.request('PATCH', path, { body: { status: 'open' } });
    const again = await send('dead-patch', 'PATCH', path, { status: 'closed' });
    expect(again.json.ticket).toMatchObject({ status: 'open', version: 3 });
  });

  test('PATCH /ticket is not applied again', async () => {
    const ids = await Promise.all(['dead-1', 'dead-2'].map(async (key) => (await post(key)).json.id as number));
    const changes = ids.map((id) => ({ id, status: 'closed', version: 1 }));
    expect((await send('dead-bulk', 'PATCH', '/ticket', changes)).status).toBe(200);
    await abandonLast();
    const again = await send('dead-bulk', 'PATCH', '/ticket', changes);
    expect([again.status, again.json]).toEqual([200, { success: true }]);
    for (const id of ids) expect((await tickets.documentOf(id)).version).toBe(2);
  });

  test('POST /tag makes no second tag', async () => {
    const create = () => send('dead-tag', 'POST', '/tag', { name: 'Verwaist' }, { roleId: 1 });
    const first = await create();
    await abandonLast();
    expect((await create()).json).toEqual(first.json);
    expect(await tickets.database.collection('tags').countDocuments({ name: 'Verwaist' })).toBe(1);
  });

  test('gets its response from another process', async () => {
    const first = await post('dead-other');
    await abandonLast();
    const other = await tickets.startInstance();
    const again = await tickets.request('POST', '/ticket', {
      body: { channel: 'chat' },
      headers: { 'idempotency-key': 'dead-other' },
      url: `http://127.0.0.1:${other.ports.http}`,
    });
    await other.stop();
    expect(again.json.id).toBe(first.json.id);
  });
});
