import { METHODS } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { create, type Message } from '@bufbuild/protobuf';
import {
  CreateTagResponseSchema,
  GetTagResponseSchema,
  TagService,
} from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import {
  CreateTicketResponseSchema,
  GetTicketResponseSchema,
  GetTicketVariablesResponseSchema,
  UpdateTicketResponseSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import fastify, { type InjectOptions } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { probeService } from '../../test/probe-contract.ts';
import { describeBodies, stubRestApi } from '../../test/stub-rest-api.ts';
import { largeBodyBytes } from '../limits/large-json.ts';
import { implement, registerRestApi } from './rest-api.ts';

type Setup = Parameters<typeof stubRestApi>;

async function openStub(...setup: Setup) {
  const stub = await stubRestApi(...setup);
  onTestFinished(() => stub.app.close());
  return stub;
}

const json = { 'content-type': 'application/json' };
const limit = 2 * 1024 * 1024;

async function request(options: InjectOptions, ...setup: Setup) {
  const stub = await openStub(...setup);
  const response = await stub.app.inject(options);
  return { ...stub, response, problem: response.body === '' ? undefined : response.json() };
}

// spec: 1.2
// asvs: 14.3.2
test('passes the request to its handler and responds with the message as JSON', async () => {
  const getTag = async () => create(GetTagResponseSchema, { tag: { id: 7, name: 'Tag', type: 1 } });
  const { response, requests } = await request({ url: '/tag/7' }, { getTag });
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  });
  expect(response.json()).toMatchObject({ id: 7, name: 'Tag', type: 'skill', parent: null });
  expect(requests).toMatchObject([{ $typeName: 'ticketing.tickets.v1.GetTagRequest', id: 7 }]);
});

test('responds with the field that the route names as the body, and does not change an open one', async () => {
  const getTicketVariables = async () =>
    create(GetTicketVariablesResponseSchema, { variables: { ticket: { id: 1 }, in: null } });
  const { response } = await request({ url: '/ticket/1/variables' }, { getTicketVariables });
  expect(response.json()).toEqual({ ticket: { id: 1 }, in: null });
});

test.each([
  ['GET', '/ticket/1', 'getTicket', create(GetTicketResponseSchema, { ticket: { version: 4 } })],
  ['PATCH', '/ticket/1', 'updateTicket', create(UpdateTicketResponseSchema, { ticket: { version: 4 } })],
  ['POST', '/ticket', 'createTicket', create(CreateTicketResponseSchema, { ticket: { version: 4 } })],
] as const)('sends the version of the ticket as a strong ETag: %s %s', async (method, url, name, message) => {
  const payload = method === 'GET' ? {} : { payload: method === 'POST' ? { channel: 'chat' } : {} };
  const { response } = await request({ method, url, ...payload }, { [name]: async () => message });
  expect([response.statusCode, response.headers.etag]).toEqual([200, '"4"']);
});

test('sends no ETag if there is no version', async () => {
  expect((await request({ url: '/ticket/1' })).response.headers).not.toHaveProperty('etag');
  expect((await request({ url: '/tag' })).response.headers).not.toHaveProperty('etag');
});

test.each([
  ['', undefined],
  ['?includeRawData=false', undefined],
  ['?includeRawData=true', null],
])('includes unset raw data only if the request asks for it: GET /ticket/1%s', async (query, rawData) => {
  const getTicket = async () => create(GetTicketResponseSchema, { ticket: { id: 1 } });
  const { response } = await request({ url: `/ticket/1${query}` }, { getTicket });
  expect(response.json().rawData).toBe(rawData);
});

// spec: 18.2
test('responds to a success with the status that the route names', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  const rest = { method: 'POST', path: '/probe/{name}', body: '*', status: 201 };
  const service = probeService(rest, [{ name: 'name', type: 'TYPE_STRING' }]);
  const served = implement(
    service,
    {},
    { probe: async (_context: object, _call: unknown, request: Message) => request },
  );
  const context = { findTraceId: () => 't', onServerError: () => undefined };
  await registerRestApi(app, { services: [served], begin: async () => ({}), ...describeBodies(app), ...context });
  const response = await app.inject({ method: 'POST', url: '/probe/a%20b' });
  expect([response.statusCode, response.json()]).toEqual([201, { name: 'a b' }]);
});

test.each([
  ['PUT', '/ticket', 'POST, PATCH'],
  ['GET', '/ticket', 'POST, PATCH'],
  ['HEAD', '/ticket', 'POST, PATCH'],
  ['OPTIONS', '/ticket', 'POST, PATCH'],
  ['DELETE', '/ticket/search', 'POST'],
  ['POST', '/ticket/1', 'GET, HEAD, PATCH, DELETE'],
  ['PATCH', '/tag', 'GET, HEAD, POST'],
  ['PUT', '/ticket/1/history', 'GET, HEAD'],
] as const)('responds to %s %s with 405 and what the path accepts', async (method, url, allowed) => {
  const { response, problem, requests } = await request({
    method,
    url,
    payload: method === 'PUT' ? 'x' : undefined,
  } as InjectOptions);
  expect([response.statusCode, response.headers.allow]).toEqual([405, allowed]);
  if (method !== 'HEAD') expect(problem).toMatchObject({ status: 405, code: 'method_not_allowed', success: false });
  expect(requests).toEqual([]);
});

test.each([
  ['/ticket', ['POST', 'PATCH']],
  ['/ticket/1', ['GET', 'HEAD', 'PATCH', 'DELETE']],
  // asvs: 4.1.4, 13.4.4
])('responds with 405 to every method that %s does not have', async (url, methods) => {
  const { app, requests } = await openStub();
  const others = METHODS.filter((method) => !methods.includes(method));
  expect(others).toEqual(expect.arrayContaining(['TRACE', 'PROPFIND', 'M-SEARCH', 'SOURCE']));
  for (const method of others) {
    for (const payload of [undefined, '{"channel":']) {
      const response = await app.inject({ method, url, headers: json, payload } as InjectOptions);
      expect([method, response.statusCode, response.headers.allow]).toEqual([method, 405, methods.join(', ')]);
      if (method !== 'HEAD') expect(response.json()).toMatchObject({ status: 405, code: 'method_not_allowed' });
    }
  }
  expect(requests).toEqual([]);
});

test('responds to HEAD like GET, without the body', async () => {
  const getTicket = async () => create(GetTicketResponseSchema, { ticket: { version: 4 } });
  const { response } = await request({ method: 'HEAD', url: '/ticket/1' }, { getTicket });
  expect([response.statusCode, response.headers.etag, response.body]).toEqual([200, '"4"', '']);
  expect(Number(response.headers['content-length'])).toBeGreaterThan(100);
});

test.each(['/', '/nope', '/ticket/1/nope', '/ticket/', '/Ticket/1', '/ticket//1', '/ticket/1/'])(
  'responds with a problem document for the unknown path %s',
  async (url) => {
    const { response, problem } = await request({ url });
    expect(response.statusCode).toBe(url === '/ticket/' ? 400 : 404);
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(problem).toMatchObject({ instance: url, success: false, traceId: 'trace-1' });
  },
);

test.each([
  ['0', 'out_of_range'],
  ['-1', 'out_of_range'],
  ['2147483648', 'out_of_range'],
  ['01', 'wrong_type'],
  ['abc', 'wrong_type'],
  ['1.0', 'wrong_type'],
  ['%2f', 'wrong_type'],
  ['1%2F2', 'wrong_type'],
  ['%00', 'wrong_type'],
  ['..%2f1', 'wrong_type'],
  ['%E2%91%A0', 'wrong_type'],
])('refuses the path id %s', async (id, code) => {
  const { response, problem, requests } = await request({ url: `/ticket/${id}` });
  expect(response.statusCode).toBe(400);
  expect(problem.errors).toMatchObject([{ pointer: '#/path/ticketId', code }]);
  expect(requests).toEqual([]);
});

test('reads a path id that is escaped', async () => {
  expect((await request({ url: '/ticket/%31' })).requests).toMatchObject([{ ticketId: 1 }]);
});

test.each([
  ['text', { 'content-type': 'text/plain' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['something like JSON', { 'content-type': 'application/jsonx' }],
  ['a merge patch', { 'content-type': 'application/merge-patch+json' }],
  ['nothing', {}],
])('responds with 415 to a body that is declared as %s', async (_, headers) => {
  const { response, problem, requests } = await request({
    method: 'POST',
    url: '/ticket',
    headers,
    payload: '{"channel":"chat"}',
  });
  expect([response.statusCode, problem.code]).toEqual([415, 'unsupported_media_type']);
  expect(requests).toEqual([]);
});

test.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;x=y'])('reads %s', async (type) => {
  const payload = '{"channel":"chat"}';
  const { response } = await request({ method: 'POST', url: '/ticket', headers: { 'content-type': type }, payload });
  expect(response.statusCode).toBe(200);
});

// guarantee: I33
test('accepts a body of exactly the limit and responds with 413 to one byte more', async () => {
  const { app, requests } = await openStub();
  const padded = (bytes: number) => `{"name":"x"}${' '.repeat(bytes - 12)}`;
  const send = (bytes: number) => app.inject({ method: 'POST', url: '/tag', headers: json, payload: padded(bytes) });
  expect((await send(limit)).statusCode).toBe(200);
  const response = await send(limit + 1);
  expect([response.statusCode, response.headers.connection, response.json().code]).toEqual([
    413,
    'close',
    'body_too_large',
  ]);
  expect(requests).toHaveLength(1);
});

test('responds with 413 to a body whose size is found only while reading, and closes the connection', async () => {
  const { app } = await openStub();
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('POST /tag HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
  const chunk = `${(64 * 1024).toString(16)}\r\n${' '.repeat(64 * 1024)}\r\n`;
  for (let sent = 0; sent <= limit; sent += 64 * 1024) socket.write(chunk);
  let received = '';
  for await (const part of socket) received += String(part);
  expect(received).toMatch(/^HTTP\/1\.1 413 /);
  expect(received.toLowerCase()).toContain('connection: close');
});

test('accepts larger bodies if the route declares so', async () => {
  const body = JSON.stringify({ channel: 'chat', body: 'x'.repeat(4_000_000) });
  const { response } = await request({ method: 'POST', url: '/ticket', headers: json, payload: body });
  expect(response.statusCode).toBe(200);
});

test.each([
  ['an empty body', ''],
  ['an empty object', '{}'],
])('treats %s as a request without fields', async (_, payload) => {
  const { response, problem } = await request({ method: 'POST', url: '/ticket', headers: json, payload });
  expect(response.statusCode).toBe(400);
  expect(problem.errors).toMatchObject([{ pointer: '#/channel', code: 'required' }]);
});

test.each([
  ['malformed JSON', Buffer.from('{"channel":')],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['white space', Buffer.from('  ')],
])('responds with 400 to %s', async (_, payload) => {
  const { response, problem } = await request({ method: 'POST', url: '/ticket', headers: json, payload });
  expect(response.statusCode).toBe(400);
  expect(problem).toMatchObject({ code: 'malformed_json', errors: [{ pointer: '#', code: 'malformed_json' }] });
});

// guarantee: H6
test('reads and writes large JSON like small JSON', async () => {
  const text = '"\n\u0001漢'.repeat(400_000);
  const { response, requests } = await request(
    { method: 'POST', url: '/ticket', headers: json, payload: JSON.stringify({ channel: 'chat', body: text }) },
    { createTicket: async () => create(CreateTicketResponseSchema, { ticket: { id: 1, version: 2, body: text } }) },
  );
  expect(requests.map(({ body }) => body === text)).toEqual([true]);
  expect(response.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(response.body)),
    etag: '"2"',
  });
  expect(response.json().body === text).toBe(true);
});

test.each([
  ['malformed', '{"a":"', '', 'malformed_json', '#'],
  ['a key given twice', '{"channel":"chat","body":"', '","body":""}', 'duplicate_key', '#/body'],
  ['an unknown field', '{"channel":"chat","x":"', '"}', 'unknown_field', '#/x'],
])('responds with 400 to large JSON with a problem: %s', async (_, start, end, code, pointer) => {
  const payload = `${start}${'x'.repeat(largeBodyBytes)}${end}`;
  const { response, problem } = await request({ method: 'POST', url: '/ticket', headers: json, payload });
  expect(response.statusCode).toBe(400);
  expect(problem).toMatchObject({ code, errors: [{ pointer, code }] });
});

test('responds with 503 to large JSON that the thread cannot read, and serves the next request', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  const served = implement(TagService, {}, { createTag: async () => create(CreateTagResponseSchema) });
  const context = { findTraceId: () => 't', onServerError: () => undefined };
  const bodies = describeBodies(app, new URL('../../test/probe.worker.ts', import.meta.url));
  await registerRestApi(app, { services: [served], begin: async () => ({}), ...bodies, ...context });
  const post = (text: string) => {
    const payload = text.padEnd(largeBodyBytes);
    return app.inject({ method: 'POST', url: '/tag', headers: json, payload });
  };
  const refused = await post('exit');
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1']);
  expect(refused.json()).toMatchObject({ code: 'json_crashed' });
  // The value of this thread is a number.
  expect((await post('next')).json()).toMatchObject({ code: 'wrong_type' });
});

test('ignores the body of a DELETE', async () => {
  const { response, requests } = await request({
    method: 'DELETE',
    url: '/ticket/3',
    headers: json,
    payload: '{"ticketId":4',
  });
  expect(response.statusCode).toBe(200);
  expect(requests).toMatchObject([{ ticketId: 3 }]);
});

// guarantee: A1
test('authorises before the body is read', async () => {
  const refuse = async () => {
    throw new DomainError('unauthenticated', 'unauthenticated', 'A token is required.');
  };
  for (const payload of ['{"broken', ' '.repeat(limit + 1)]) {
    const { response, requests } = await request({ method: 'POST', url: '/tag', headers: json, payload }, {}, refuse);
    expect([response.statusCode, response.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect(requests).toEqual([]);
  }
});

test('passes the result of begin to the handler, and the method to begin', async () => {
  const calls: unknown[] = [];
  const getTag = async (call: object) => {
    calls.push(call);
    return create(GetTagResponseSchema);
  };
  await request({ url: '/tag/1' }, { getTag }, async (method, request) => ({ method: method.name, url: request.url }));
  expect(calls).toEqual([{ method: 'GetTag', url: '/tag/1' }]);
});

test.each([
  ['an error', new Error('hunter2')],
  [
    'an error of a library that has a status',
    Object.assign(new Error('hunter2'), { statusCode: 404, code: 'FST_ERR_NOT_FOUND' }),
  ],
  ['null', null],
])('shows only the trace of %s in a handler or in begin, and reports it once', async (_, thrown) => {
  const fail = async () => {
    throw thrown;
  };
  for (const setup of [[{ getTag: fail }], [{}, fail]] as Setup[]) {
    const { response, problem, reported } = await request({ url: '/tag/1' }, ...setup);
    expect(response.statusCode).toBe(500);
    expect(problem).toEqual({
      type: 'urn:ticketing:problem:internal',
      title: 'Internal error',
      status: 500,
      instance: '/tag/1',
      success: false,
      code: 'internal',
      traceId: 'trace-1',
    });
    expect(reported.map((error) => error.cause)).toEqual([thrown]);
  }
});

test('responds to a domain error with its problem document', async () => {
  const fail = async () => {
    throw new DomainError('failed_precondition', 'stale_version', 'The ticket was changed meanwhile.');
  };
  const { response, problem, reported } = await request({ url: '/tag/1' }, { getTag: fail });
  expect(response.statusCode).toBe(412);
  expect(problem).toMatchObject({ code: 'stale_version', detail: 'The ticket was changed meanwhile.' });
  expect(reported).toEqual([]);
});

test('removes the headers of a success from an error that occurs later', async () => {
  const getTicket = async () =>
    create(GetTicketResponseSchema, { ticket: { version: 4, createdAt: { seconds: 10n ** 15n, nanos: 0 } } });
  const { response } = await request({ url: '/ticket/1' }, { getTicket });
  expect(response.statusCode).toBe(500);
  expect(response.headers).not.toHaveProperty('etag');
});

test('serves only the methods that have a handler', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  const served = implement(TagService, {}, { getTag: async () => create(GetTagResponseSchema) });
  expect([...served.handlers.keys()]).toEqual([TagService.method.getTag]);
  const context = { findTraceId: () => 't', onServerError: () => undefined };
  await app.register(async (scope) =>
    registerRestApi(scope, { services: [served], begin: async () => ({}), ...describeBodies(app), ...context }),
  );
  expect((await app.inject({ url: '/tag/1' })).statusCode).toBe(200);
  expect((await app.inject({ url: '/tag' })).statusCode).toBe(404);
});

test('responds with 404 for an unknown path whatever its body is', async () => {
  for (const headers of [json, { 'content-type': 'text/plain' }, {}]) {
    const { response } = await request({ method: 'POST', url: '/nope', headers, payload: '{"broken' });
    expect(response.statusCode).toBe(404);
  }
});
