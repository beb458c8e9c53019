import type { HttpBody } from '@ticketing/contracts/ticketing/api/v1/http_body_pb.ts';
import {
  type ExportReportingTicketsResponse,
  ExportService,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { untilStill } from '@ticketing/testkit/until-still.ts';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { describeBodies } from '../../test/stub-rest-api.ts';
import { openApiDocument } from '../documents/openapi.ts';
import { implement, registerRestApi } from './rest-api.ts';

type Parts = AsyncIterable<ExportReportingTicketsResponse>;

const part = (body: Partial<HttpBody>): ExportReportingTicketsResponse => ({
  $typeName: 'ticketing.reporting.v1.ExportReportingTicketsResponse',
  body: {
    $typeName: 'ticketing.api.v1.HttpBody',
    contentType: '',
    data: new Uint8Array(),
    status: 0,
    headers: {},
    ...body,
  },
});

async function openApi(handler: () => Parts) {
  const app = fastify();
  const served = [implement(ExportService, {}, { exportReportingTickets: () => handler() })];
  const context = { findTraceId: () => 'trace-1', onServerError: () => undefined };
  await app.register(async (scope) =>
    registerRestApi(scope, { services: served, begin: async () => ({}), ...describeBodies(app), ...context }),
  );
  onTestFinished(() => app.close());
  return { app, served };
}

const url = '/export/reporting_tickets';

test('a file is sent piece by piece, with the headers of its first piece', async () => {
  const { app } = await openApi(async function* () {
    yield part({ contentType: 'text/csv', headers: { 'x-total-count': '2' }, data: Buffer.from('a') });
    yield part({ data: Buffer.from('b') });
    yield part({ data: Buffer.from('c') });
  });
  const response = await app.inject({ url });
  expect([response.statusCode, response.body]).toEqual([200, 'abc']);
  expect(response.headers).toMatchObject({
    'content-type': 'text/csv',
    'x-total-count': '2',
    'cache-control': 'no-store',
  });
});

test('the first piece may set another status', async () => {
  const { app } = await openApi(async function* () {
    yield part({ contentType: 'application/json', status: 202, headers: { location: '/x' } });
    yield part({ data: Buffer.from('{}') });
  });
  const response = await app.inject({ url });
  expect([response.statusCode, response.headers.location, response.json()]).toEqual([202, '/x', {}]);
});

test('an error before the first piece becomes a problem document', async () => {
  const { app } = await openApi(async function* () {
    await Promise.reject(new DomainError('unavailable', 'store_unavailable', 'down', { retryAfterSeconds: 1 }));
    yield part({});
  });
  const response = await app.inject({ url });
  expect([response.statusCode, response.json().code, response.headers['retry-after']]).toEqual([
    503,
    'store_unavailable',
    '1',
  ]);
});

test('a later error aborts the response, so that clients see that it is incomplete', async () => {
  const received = Promise.withResolvers<void>();
  const { app } = await openApi(async function* () {
    yield part({ contentType: 'text/csv', data: Buffer.from('a') });
    await received.promise;
    throw new Error('broken');
  });
  const address = await app.listen({ port: 0 });
  const response = await fetch(address + url);
  expect(response.status).toBe(200);
  received.resolve();
  await expect(response.text()).rejects.toThrow('terminated');
});

// guarantee: F40
test('a client that disconnects ends the work, and one that does not read pauses it', async () => {
  let made = 0;
  let hasEnded = false;
  const { app } = await openApi(async function* () {
    try {
      yield part({ contentType: 'text/csv' });
      for (; made < 10_000; made++) yield part({ data: Buffer.alloc(64 * 1024) });
    } finally {
      hasEnded = true;
    }
  });
  const address = await app.listen({ port: 0 });
  const disconnecting = new AbortController();
  const response = await fetch(address + url, { signal: disconnecting.signal });
  expect(response.status).toBe(200);
  await untilStill(() => made);
  expect(made).toBeLessThan(2_000);
  disconnecting.abort();
  await response.arrayBuffer().catch(() => undefined);
  await expect.poll(() => hasEnded).toBe(true);
  expect(made).toBeLessThan(2_000);
});

test('the OpenAPI document names the media types, what is text, the rows of the JSON form, and the response 202', async () => {
  const { served } = await openApi(async function* () {
    yield part({});
  });
  const document = openApiDocument({ served, title: 'x', version: '1' });
  const operation = document.paths[url]?.get;
  const responses = operation?.responses as Record<
    string,
    { content: Record<string, { schema: object }>; headers?: object }
  >;
  expect(Object.keys(responses['200']?.content ?? {})).toEqual([
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'text/csv',
    'application/json',
  ]);
  expect(responses['200']?.content['application/json']?.schema).toMatchObject({ type: 'array' });
  expect(responses['200']?.content['text/csv']?.schema).toEqual({ type: 'string' });
  const sheet = responses['200']?.content['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'];
  expect(sheet?.schema).toEqual({ type: 'string', format: 'binary' });
  expect(responses['202']).toMatchObject({ headers: { Location: {} }, content: { 'application/json': {} } });
  expect(operation?.parameters?.map(({ name }) => name)).toContain('Prefer');
  expect(document.components.schemas.ReportingTicketRow).toMatchObject({ properties: { secondsClosedAfterSLA: {} } });
});
