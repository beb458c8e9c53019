import { create } from '@bufbuild/protobuf';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import {
  EventService,
  type FollowEventsResponse,
  FollowEventsResponseSchema,
  ListEventsResponseSchema,
} from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { untilStill } from '@ticketing/testkit/until-still.ts';
import fastify from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { describeBodies } from '../../test/stub-rest-api.ts';
import { openApiDocument } from '../documents/openapi.ts';
import { commentMs } from './event-stream.ts';
import { implement, registerRestApi } from './rest-api.ts';

type Stream = () => AsyncIterable<FollowEventsResponse>;

const message = (next: string, version?: number): FollowEventsResponse =>
  create(FollowEventsResponseSchema, {
    next,
    ...(version === undefined
      ? {}
      : { event: create(TicketChangedSchema, { version, type: TicketChangeType.TICKET_UPDATED }) }),
  });

async function openApi(followEvents: Stream) {
  const app = fastify();
  const reported: DomainError[] = [];
  const chosen: string[] = [];
  const listEvents = async () => create(ListEventsResponseSchema, { next: 'n' });
  const served = [implement(EventService, {}, { listEvents, followEvents: () => followEvents() })];
  const context = { findTraceId: () => 't', onServerError: (error: DomainError) => void reported.push(error) };
  const begin = async (method: { localName: string }) => chosen.push(method.localName);
  await app.register(async (scope) =>
    registerRestApi(scope, { services: served, begin, ...describeBodies(app), ...context }),
  );
  onTestFinished(() => app.close());
  return { app, served, reported, chosen };
}

const events = { accept: 'text/event-stream' };

test('the Accept header chooses between methods with one route, before the request is authorised', async () => {
  const { app, chosen } = await openApi(async function* () {
    yield message('a');
  });
  for (const headers of [{}, { accept: 'application/json' }, events, { accept: '*/*' }]) {
    const { headers: received } = await app.inject({ url: '/event', headers });
    expect(received.vary).toBe('accept');
  }
  expect(chosen).toEqual(['listEvents', 'listEvents', 'followEvents', 'listEvents']);
  const other = await app.inject({ method: 'POST', url: '/event' });
  expect([other.statusCode, other.headers.allow]).toEqual([405, 'GET, HEAD']);
});

test('each message is an event with its cursor as the id, and one without data only an id', async () => {
  const { app } = await openApi(async function* () {
    yield message('a');
    yield message('b', 3);
    yield message('c');
  });
  const { headers, body, statusCode } = await app.inject({ url: '/event', headers: events });
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  const [first, second = '', ...others] = body.split('\n\n');
  expect(first).toBe('retry: 1000\nid: a');
  expect(second).toMatch(/^id: b\nevent: ticket\.updated\ndata: \{.*"version":3,.*\}$/);
  expect(others).toEqual(['id: c', '']);
});

test('the first message is sent while the second is awaited, and a comment every 15 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const end = Promise.withResolvers<void>();
  const { app } = await openApi(async function* () {
    yield message('a');
    await end.promise;
  });
  const address = await app.listen({ port: 0 });
  const response = await fetch(`${address}/event`, { headers: events });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => (await reader?.read())?.value;
  expect(await read()).toBe('retry: 1000\nid: a\n\n');
  vi.advanceTimersByTime(commentMs - 1);
  vi.advanceTimersByTime(1);
  expect(await read()).toBe(':\n\n');
  vi.advanceTimersByTime(commentMs);
  expect(await read()).toBe(':\n\n');
  end.resolve();
  expect(await read()).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});

test('an error before the first message becomes a problem document, a later one closes the connection', async () => {
  let isLate = false;
  const received = Promise.withResolvers<void>();
  const { app, reported } = await openApi(async function* () {
    if (isLate) yield message('a');
    if (isLate) await received.promise;
    await Promise.reject(new DomainError('unavailable', 'store_unavailable', 'down'));
  });
  const refused = await app.inject({ url: '/event', headers: events });
  expect([refused.statusCode, refused.json().code]).toEqual([503, 'store_unavailable']);
  expect(refused.headers['content-type']).toContain('application/problem+json');
  isLate = true;
  const address = await app.listen({ port: 0 });
  const response = await fetch(`${address}/event`, { headers: events });
  expect(response.status).toBe(200);
  received.resolve();
  await expect(response.text()).rejects.toThrow('terminated');
  expect(reported.map(({ reason }) => reason)).toEqual(['store_unavailable', 'store_unavailable']);
});

test('messages are read as the client reads them, and no more when it has gone', async () => {
  let made = 0;
  let hasEnded = false;
  const { app } = await openApi(async function* () {
    try {
      for (; made < 1_000_000; made++) yield message('x'.repeat(1000), made);
    } finally {
      hasEnded = true;
    }
  });
  const address = await app.listen({ port: 0 });
  const leaving = new AbortController();
  const response = await fetch(`${address}/event`, { headers: events, signal: leaving.signal });
  await untilStill(() => made);
  expect(made).toBeLessThan(50_000);
  leaving.abort();
  // A response that nothing refers to any more would have been cancelled.
  await expect(response.text()).rejects.toThrow('aborted');
  await expect.poll(() => hasEnded).toBe(true);
});

test('HEAD has the headers of the stream, and calls no handler', async () => {
  const { app } = await openApi(() => {
    throw new Error('called');
  });
  const { statusCode, headers, body } = await app.inject({ method: 'HEAD', url: '/event', headers: events });
  expect([statusCode, headers['content-type'], body]).toEqual([200, 'text/event-stream', '']);
});

test('the OpenAPI document has one operation with both media types', async () => {
  const { served } = await openApi(async function* () {
    yield message('a');
  });
  const document = openApiDocument({ served, title: 'x', version: '1' });
  const operation = document.paths['/event']?.get;
  expect(operation).toMatchObject({ operationId: 'listEvents', 'x-required-right': 'manageWebhooks' });
  expect(operation?.description).toContain(
    'With the media type `text/event-stream`: Returns the events after a cursor',
  );
  expect(operation?.responses['200']).toMatchObject({
    content: { 'application/json': {}, 'text/event-stream': { schema: { type: 'string' } } },
  });
  expect(operation?.parameters?.map(({ name }) => name)).toEqual([
    'after',
    'types',
    'ticketId',
    'limit',
    'Last-Event-ID',
  ]);
  expect(operation?.responses).toHaveProperty('410');
});
