import { setTimeout } from 'node:timers/promises';
import { type EventSourceClient, openEventSource } from '@ticketing/testkit/event-source.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type System, startSystem } from './harness.ts';

let system: System;
let authorization: string;

beforeAll(async () => {
  system = await startSystem({ variables: { RATE_LIMITS: 'user=100000' } });
  authorization = `Bearer ${await system.identity.issuerToken({ roleId: 1 })}`;
});
afterAll(() => system.stop());

interface Change {
  id: number;
  version: number;
}

interface FeedEvent {
  ticketId: number;
  version: number;
}

const named = (ticketId: number, version: number) => `${ticketId}/${version}`;

// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
async function call(method: string, path: string, body?: object): Promise<any> {
  const response = await system.fetch(system.url + path, {
    method,
    headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect([response.status, response.ok || (await response.clone().text())]).toEqual([200, true]);
  return response.json();
}

/** Creates tickets and changes each of them some times. Returns the acknowledged changes. */
async function changeTickets(tickets: number, changes: number): Promise<Set<string>> {
  const acknowledged = new Set<string>();
  const changeOne = async () => {
    const created: Change = await call('POST', '/ticket', { channel: 'portal' });
    acknowledged.add(named(created.id, created.version));
    for (let count = 0; count < changes; count++) {
      const { ticket }: { ticket: Change } = await call('PATCH', `/ticket/${created.id}`, {
        priority: count % 2 === 0 ? 'high' : 'low',
      });
      acknowledged.add(named(ticket.id, ticket.version));
    }
  };
  await Promise.all(Array.from({ length: tickets }, changeOne));
  return acknowledged;
}

/** Reads the feed in pages from its beginning, until it has all the wanted events. */
async function readPages(wanted: ReadonlySet<string>): Promise<string[]> {
  const seen: string[] = [];
  let cursor = '';
  while (![...wanted].every((name) => seen.includes(name))) {
    const { events, next } = await call('GET', `/event?limit=7${cursor && `&after=${cursor}`}`);
    seen.push(...events.map(({ ticketId, version }: FeedEvent) => named(ticketId, version)));
    if (next === cursor) await setTimeout(20);
    cursor = next;
  }
  return seen;
}

async function endOfFeed(): Promise<string> {
  let cursor = '';
  for (;;) {
    const { next } = await call('GET', `/event?limit=500${cursor && `&after=${cursor}`}`);
    if (next === cursor) return cursor;
    cursor = next;
  }
}

const follow = (lastId?: string): Promise<EventSourceClient> =>
  openEventSource(`${system.url}/event`, { authorization, ...(lastId && { 'last-event-id': lastId }) });

/** Follows the feed from its beginning, and is killed after each few events, until it has all the wanted events. */
async function followWithKills(wanted: ReadonlySet<string>): Promise<string[]> {
  const seen: string[] = [];
  let lastId: string | undefined;
  const isDone = () => [...wanted].every((name) => seen.includes(name));
  while (!isDone()) {
    const client = await follow(lastId);
    if (client.status === 429) {
      await setTimeout(20);
      continue;
    }
    expect(client.status).toBe(200);
    for (let count = 0; count < 5 && !isDone(); count++) {
      const { id, data = '' } = await client.nextData();
      const { ticketId, version }: FeedEvent = JSON.parse(data);
      seen.push(named(ticketId, version));
      lastId = id;
    }
    client.close();
  }
  return seen;
}

// guarantee: E11, F34
test('pages and a stream that is killed and resumed show every acknowledged change, per ticket in order', async () => {
  const changing = changeTickets(20, 60);
  const wanted = new Set<string>();
  // The readers begin at once, and end when they have seen what was acknowledged.
  const reading = changing.then((acknowledged) => {
    for (const name of acknowledged) wanted.add(name);
  });
  const live = await follow();
  expect((await live.next())?.data).toBeUndefined();
  expect((await live.nextData()).event).toBe('ticket.created');
  live.close();
  await reading;
  for (const seen of await Promise.all([readPages(wanted), followWithKills(wanted)])) {
    expect(new Set(seen)).toEqual(wanted);
    const versions = Map.groupBy(seen, (name) => name.split('/')[0]);
    for (const ofTicket of versions.values()) {
      const numbers = ofTicket.map((name) => Number(name.split('/')[1]));
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    }
  }
});

test('a change is seen by a follower', async () => {
  const client = await follow(await endOfFeed());
  await client.next();
  await call('POST', '/ticket', { channel: 'portal' });
  expect((await client.nextData()).event).toBe('ticket.created');
  client.close();
});

test('the stream ends when the access token expires', async () => {
  const [, payload = ''] = authorization.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const followUntil = async (exp: number) => {
    const token = await system.identity.signIssuerToken({ ...claims, exp });
    const client = await openEventSource(`${system.url}/event`, { authorization: `Bearer ${token}` });
    expect(client.status).toBe(200);
    return { client, exp };
  };
  // On a busy machine the token may expire before the stream begins.
  const begin = () => followUntil(Math.floor(Date.now() / 1000) + 2);
  const { client, exp } = await vi.waitFor(begin, { timeout: 30_000 });
  while (await client.next());
  expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000);
});

test('a stream outlives every deadline of a request', async () => {
  const client = await follow(await endOfFeed());
  await client.next();
  expect(client.status).toBe(200);
  const arrived = client.nextData();
  const startedAt = performance.now();
  await expect.poll(() => client.comments(), { timeout: 120_000 }).toBeGreaterThanOrEqual(5);
  // The longest time after which anything ends a connection is a minute.
  expect(performance.now() - startedAt).toBeGreaterThan(70_000);
  await call('POST', '/ticket', { channel: 'portal' });
  expect((await arrived).event).toBe('ticket.created');
  client.close();
});
