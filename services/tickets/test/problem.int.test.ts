import { golden } from '@ticketing/testkit/golden.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import { sendRequest } from '@ticketing/testkit/send-request.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

async function jsonHeaders(): Promise<Record<string, string>> {
  const token = await tickets.identity.internalToken('tickets', testCaller({ roleId: 1 }));
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
}

async function expectProblem(response: TestResponse, status: number, name: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.json.traceId).toMatch(/^[0-9a-f]{32}$/);
  await golden(`problem-${name}`, response.json);
}

// spec: 39.14
test('400 lists every invalid part of the input', async () => {
  const body = { channel: 'fax', 'a/b': 1, id: 4, dueBy: '2026-02-30', tags: [3, 'x'], priority: null };
  await expectProblem(await tickets.request('POST', '/ticket?proces=x', { body }), 400, '400-several');
});

test('400 for a single part has its code as the code of the problem', async () => {
  await expectProblem(await tickets.request('POST', '/ticket', { body: {} }), 400, '400-required');
});

test('400 for a body that is not JSON, or not UTF-8', async () => {
  await expectProblem(await tickets.request('POST', '/ticket', { body: '{"channel":' }), 400, '400-malformed');
  const latin1 = new Uint8Array(Buffer.from('{"channel":"chat","subject":"Zähler"}', 'latin1'));
  const response = await tickets.fetch(`${tickets.url}/ticket`, {
    method: 'POST',
    headers: await jsonHeaders(),
    body: latin1,
  });
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, 'malformed_json']);
});

test('400 for a parameter of the path names it', async () => {
  await expectProblem(await tickets.request('GET', '/ticket/abc'), 400, '400-path');
});

test('401 without a credential', async () => {
  const response = await sendRequest(tickets.fetch, tickets.url, 'GET', '/ticket/1');
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  await expectProblem(response, 401, '401-missing');
});

test('401 with a credential that is not valid', async () => {
  const response = await tickets.request('GET', '/ticket/1', { headers: { authorization: 'Bearer a.b.c' } });
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  await expectProblem(response, 401, '401-invalid');
});

// spec: 36.5
test('404 for an unknown tag, and for an unknown path', async () => {
  await expectProblem(await tickets.request('GET', '/tag/4'), 404, '404-tag');
  await expectProblem(await tickets.request('GET', '/tickets'), 404, '404-path');
});

test.each([
  ['DELETE', '/tag', 'GET, HEAD, POST'],
  ['PUT', '/tag/1', 'GET, HEAD, PATCH, DELETE'],
  ['GET', '/ticket', 'POST, PATCH'],
  ['GET', '/ticket/search', 'POST'],
  ['PUT', '/ticket/1', 'GET, HEAD, PATCH, DELETE'],
])('405 for %s %s, with the verbs that the path accepts', async (method, path, allow) => {
  const response = await tickets.request(method, path);
  expect(response.headers.get('allow')).toBe(allow);
  expect(response.status).toBe(405);
  if (path === '/ticket') await golden('problem-405', response.json);
});

test('HEAD responds like GET, without the body', async () => {
  const { json } = await tickets.request('POST', '/ticket', { body: { channel: 'chat' } });
  const head = await tickets.request('HEAD', `/ticket/${json.id}`);
  expect([head.status, head.json, head.headers.get('etag')]).toEqual([200, undefined, '"1"']);
  expect((await tickets.request('HEAD', '/ticket/2000000000')).status).toBe(404);
});

test('413 for a body above the limit of its route', async () => {
  const body = ' '.repeat(2 * 1024 * 1024 + 1);
  const caller = { roleId: 1 };
  await expectProblem(await tickets.request('POST', '/tag', { caller, body }), 413, '413');
});

test('413 for a body above the limit without a Content-Length', async () => {
  const chunk = new Uint8Array(1024 * 1024).fill(0x20);
  let sent = 0;
  const stream = new ReadableStream({
    pull(controller) {
      sent += 1;
      if (sent > 3) controller.close();
      else controller.enqueue(chunk);
    },
  });
  const request = { method: 'POST', headers: await jsonHeaders(), body: stream, duplex: 'half' } as RequestInit;
  const response = await tickets.fetch(`${tickets.url}/tag`, request);
  expect(response.status).toBe(413);
  await response.body?.cancel();
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'multipart/form-data; boundary=x'])(
  // spec: 1.2
  '415 for a body of type %s',
  async (type) => {
    const response = await tickets.request('POST', '/ticket', {
      body: '{"channel":"chat"}',
      headers: { 'content-type': type },
    });
    expect(response.status).toBe(415);
    if (type === 'text/plain') await expectProblem(response, 415, '415');
  },
);

test('the media type of a body may name its charset', async () => {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  expect((await tickets.request('POST', '/ticket', { body: '{"channel":"chat"}', headers })).status).toBe(200);
});

test('the trace id is that of the request, if it has one', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const response = await tickets.request('GET', '/tag/9', { headers: { traceparent } });
  expect(response.json.traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
});

test.each([
  { channel: 'CHANNEL_CHAT', bogus: 1 },
  { channel: 'CHANNEL_CHAT', priority: 'nope' },
])('an RPC with JSON refuses an unknown field and an unknown enum value: %j', async (body) => {
  const before = await tickets.database.collection('tickets').countDocuments();
  const response = await fetch(`${tickets.url}/ticketing.tickets.v1.TicketService/CreateTicket`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await tickets.identity.issuerToken()}` },
    body: JSON.stringify(body),
  });
  expect([response.status, await response.json()]).toEqual([
    400,
    expect.objectContaining({ code: 'invalid_argument' }),
  ]);
  expect(await tickets.database.collection('tickets').countDocuments()).toBe(before);
});
