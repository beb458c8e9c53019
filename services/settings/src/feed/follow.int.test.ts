import { toBinary } from '@bufbuild/protobuf';
import { Code, type ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import {
  type TicketChanged,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { EventService } from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import type { OpenApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { developmentIssuer } from '@ticketing/testkit/development-keys.ts';
import { type EventSourceClient, openEventSource } from '@ticketing/testkit/event-source.ts';
import { holdTimer } from '@ticketing/testkit/held-timer.ts';
import { type ServiceHarness, startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ticketChanged, ticketChanges } from '../../test/feed-events.ts';
import { service } from '../service.ts';
import { eventCursor } from './rules/cursor.ts';
import { type EventStore, eventStore } from './store.ts';

let settings: ServiceHarness;
let database: Database;
let store: EventStore;
const opened: EventSourceClient[] = [];
/** How far the clock of the service is ahead. */
let aheadMs = 0;

beforeAll(async () => {
  settings = await startServiceHarness(service, {
    limits: { followers: 30 },
    runtime: { ...systemRuntime, now: () => Date.now() + aheadMs },
    publishes: [ticketChangedTopic],
  });
  database = await settings.openDatabase();
  store = eventStore(database.connection, systemRuntime);
});

beforeEach(async () => {
  for (const name of ['events', 'feed']) await settings.database.collection(name).deleteMany({});
});

afterEach(async () => {
  for (const client of opened.splice(0)) client.close();
  aheadMs = 0;
});

afterAll(async () => {
  await database.close();
  await settings.stop();
});

interface Follow {
  query?: string;
  headers?: Record<string, string>;
  caller?: Partial<Caller>;
  url?: string;
}

async function follow({ query = '', headers = {}, caller = {}, url = settings.url }: Follow = {}) {
  const profile = testCaller({ permissions: ['manageWebhooks'], ...caller });
  const authorization = `Bearer ${await settings.identity.internalToken('settings', profile)}`;
  const client = await openEventSource(`${url}/event${query}`, { authorization, ...headers });
  opened.push(client);
  return client;
}

/** Follows as soon as the followers that were closed before are gone. */
async function followWhenFree(options: Follow = {}): Promise<EventSourceClient> {
  let client: EventSourceClient | undefined;
  await expect
    .poll(async () => {
      client = await follow(options);
      return client.status;
    })
    .toBe(200);
  return client ?? follow(options);
}

async function idsFrom(client: EventSourceClient, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(JSON.parse((await client.nextData()).data ?? '').eventId);
  return ids;
}

const hourMs = 3_600_000;
const inAnHour = () => Math.floor((Date.now() + hourMs) / 1000);

/** Holds the timer that ends a stream in an hour. The returned function lets that time pass. */
function holdExpiry(): () => Promise<void> {
  const timer = holdTimer((ms) => ms > hourMs / 2 && ms <= hourMs);
  return async () => {
    const end = await timer;
    aheadMs = hourMs;
    end();
  };
}

const append = (...events: TicketChanged[]) => store.append(events);

test('a follower gets the events so far, then each new one, with cursors as ids', async () => {
  await append(...ticketChanges(2));
  const client = await followWhenFree();
  expect(client.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  expect(await client.next()).toEqual({ id: eventCursor(0), event: undefined, data: undefined });
  const first = await client.nextData();
  expect(first).toMatchObject({ id: eventCursor(1), event: 'ticket.updated' });
  const [listed] = (await settings.request('GET', '/event', { caller: { roleId: 1 } })).json.events;
  expect(JSON.parse(first.data ?? '')).toEqual(listed);
  expect(await idsFrom(client, 1)).toEqual(['evt_1_2']);
  await append(ticketChanged(1, 3));
  expect(await idsFrom(client, 1)).toEqual(['evt_1_3']);
});

test('an event from the bus arrives at a follower of the process that consumes it', async () => {
  const client = await followWhenFree();
  const bus = await settings.openBus();
  const event = ticketChanged(5, 1);
  const envelope = { id: event.eventId, type: 'ticket.updated', source: 'test', subject: 'ticket/5', time: 1 };
  await bus.publish(ticketChangedTopic.name, [eventMessage('5', envelope, toBinary(TicketChangedSchema, event))]);
  expect(await idsFrom(client, 1)).toEqual(['evt_5_1']);
  await bus.close();
});

test('only matching events are sent', async () => {
  await append(ticketChanged(1, 1), ticketChanged(2, 1));
  const client = await followWhenFree({ query: '?ticketId=2&types[]=ticket.updated&types[]=ticket.deleted' });
  expect(await idsFrom(client, 1)).toEqual(['evt_2_1']);
  await append(
    ticketChanged(1, 2),
    ticketChanged(2, 2, { type: TicketChangeType.TICKET_CREATED }),
    ticketChanged(2, 3),
  );
  expect(await idsFrom(client, 1)).toEqual(['evt_2_3']);
});

test('after a thousand events that do not match there is a new cursor', async () => {
  const client = await followWhenFree({ query: '?ticketId=2' });
  expect((await client.next())?.id).toBe(eventCursor(0));
  await append(...ticketChanges(1_000));
  expect(await client.next()).toEqual({ id: eventCursor(1_000), event: undefined, data: undefined });
});

test('Last-Event-ID continues, and wins against the cursor of the query', async () => {
  await append(...ticketChanges(4));
  const query = `?after=${eventCursor(1)}`;
  expect(await idsFrom(await followWhenFree({ query }), 1)).toEqual(['evt_1_2']);
  const resumed = await followWhenFree({ query, headers: { 'last-event-id': eventCursor(3) } });
  expect(await idsFrom(resumed, 1)).toEqual(['evt_1_4']);
});

test.each([
  [{ headers: { 'last-event-id': 'x' } }, 400, 'invalid_cursor', '#/header/Last-Event-ID'],
  [{ headers: { 'last-event-id': eventCursor(3) } }, 400, 'invalid_cursor', '#/header/Last-Event-ID'],
  [{ query: `?after=${eventCursor(3)}` }, 400, 'invalid_cursor', '#/query/after'],
  [{ query: '?limit=1' }, 400, 'unknown_field', '#/query/limit'],
  [{ caller: { permissions: [] } }, 403, 'missing_right', undefined],
])('a request that cannot be followed gets a problem document: %o', async (options, status, code, pointer) => {
  await append(...ticketChanges(2));
  const client = await follow(options);
  expect([client.status, client.headers['content-type']]).toEqual([status, 'application/problem+json; charset=utf-8']);
  const problem = JSON.parse(await client.body());
  expect(problem).toMatchObject({ code, ...(pointer && { errors: [{ pointer }] }) });
});

test('a stream has no limit, which the problem document and the OpenAPI document say', async () => {
  const client = await follow({ query: '?limit=1' });
  const [violation] = JSON.parse(await client.body()).errors;
  expect(violation.detail).toBe('is not a field of this request with the media type text/event-stream');
  const document = (await (await fetch(`${settings.url}/openapi.json`)).json()) as OpenApiDocument;
  const limit = document.paths['/event']?.get?.parameters?.find(({ name }) => name === 'limit');
  expect(limit?.description).toContain('Not with the media type `text/event-stream`.');
});

test('a cursor before the oldest event is 410', async () => {
  await append(...ticketChanges(3));
  await settings.database.collection('feed').updateOne({}, { $set: { first: 3 } });
  const client = await follow({ headers: { 'last-event-id': eventCursor(1) } });
  expect([client.status, JSON.parse(await client.body()).code]).toEqual([410, 'cursor_expired']);
  expect((await followWhenFree({ headers: { 'last-event-id': eventCursor(2) } })).status).toBe(200);
});

test('a caller follows at most 10 times at once, and a process has a limit; who leaves makes room', async () => {
  const readStatus = async (profileId: number) => (await follow({ caller: { profileId } })).status;
  const first = await followWhenFree({ caller: { profileId: 1 } });
  for (let count = 1; count < 10; count++) await followWhenFree({ caller: { profileId: 1 } });
  const refused = await follow({ caller: { profileId: 1 } });
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
  expect(JSON.parse(await refused.body()).code).toBe('too_many_at_once');
  for (const profileId of [2, 3]) {
    for (let count = 0; count < 10; count++) await followWhenFree({ caller: { profileId } });
  }
  expect(await readStatus(4)).toBe(429);
  first.close();
  await expect.poll(() => readStatus(4)).toBe(200);
  expect(await readStatus(1)).toBe(429);
});

test('the stream ends when the access token of the caller expires', async () => {
  const expire = holdExpiry();
  const client = await followWhenFree({ caller: { expiresAt: inAnHour() } });
  expect((await client.next())?.id).toBe(eventCursor(0));
  await expire();
  expect(await client.next()).toBeUndefined();
});

test('a token that is valid for longer than a timer can wait does not end it', async () => {
  const client = await followWhenFree({ caller: { expiresAt: Math.floor(Date.now() / 1000) + 10 * 365 * 86_400 } });
  expect((await client.next())?.id).toBe(eventCursor(0));
  await append(ticketChanged(1, 1));
  expect(await idsFrom(client, 1)).toEqual(['evt_1_1']);
});

test('a process that stops ends its streams, and the client continues at another', async () => {
  await append(...ticketChanges(1));
  const instance = await settings.startInstance({ TICKETING_SETTINGS_DRAIN_MS: '200' });
  const url = `http://127.0.0.1:${instance.ports.http}`;
  const client = await follow({ url });
  const last = await client.nextData();
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${instance.ports.grpc}` });
  const token = await settings.identity.issuerToken({ permissions: ['manageWebhooks'] });
  const headers = { authorization: `Bearer ${token}` };
  const messages = createClient(EventService, transport).followEvents({}, { headers })[Symbol.asyncIterator]();
  await messages.next();
  await messages.next();
  const stopped = instance.stop();
  expect(await messages.next()).toMatchObject({ done: true });
  expect(await client.next()).toBeUndefined();
  await stopped;
  await append(ticketChanged(1, 2));
  const resumed = await followWhenFree({ headers: { 'last-event-id': last.id ?? '' } });
  expect(await idsFrom(resumed, 1)).toEqual(['evt_1_2']);
});

test('over gRPC the stream has the same messages, ends with the token, and a client that cancels leaves', async () => {
  await append(...ticketChanges(1));
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${settings.running.ports.grpc}` });
  const client = createClient(EventService, transport);
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    sub: '8',
    kind: 'user',
    permissions: ['manageWebhooks'],
    scope: 'api',
    iss: developmentIssuer.issuer,
    aud: developmentIssuer.audience,
    iat: now,
  };
  const authorization = async (exp: number) => ({
    authorization: `Bearer ${await settings.identity.signIssuerToken({ ...claims, exp })}`,
  });
  const expected = [
    [eventCursor(0), undefined],
    [eventCursor(1), 'evt_1_1'],
  ];
  const headers = await authorization(inAnHour());
  // One more than the limit of followers, so that a follower that had not left would be counted.
  for (let round = 0; round < 11; round++) {
    const leaving = new AbortController();
    const received: unknown[] = [];
    const reading = async () => {
      for await (const { next, event } of client.followEvents({}, { headers, signal: leaving.signal })) {
        received.push([next, event?.eventId]);
        if (received.length === 2) leaving.abort();
      }
    };
    await expect.poll(() => reading().catch(({ code }: ConnectError) => code)).toBe(Code.Canceled);
    expect(received).toEqual(expected);
  }
  const expire = holdExpiry();
  const received: unknown[] = [];
  for await (const { next, event } of client.followEvents({}, { headers })) {
    received.push([next, event?.eventId]);
    if (received.length === 2) await expire();
  }
  expect(received).toEqual(expected);
});
