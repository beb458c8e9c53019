import { type TicketChanged, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { type ServiceHarness, startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ticketChanged, ticketChanges } from '../../test/feed-events.ts';
import { service } from '../service.ts';
import { maxScanned } from './read.ts';
import { eventCursor } from './rules/cursor.ts';
import { type EventStore, eventStore } from './store.ts';

const reader = { permissions: ['manageWebhooks'] };
const { INTENT_EXECUTED, TICKET_CREATED } = TicketChangeType;

let settings: ServiceHarness;
let database: Database;
let store: EventStore;
let clock = Date.now();

beforeAll(async () => {
  settings = await startServiceHarness(service);
  database = await settings.openDatabase();
  store = eventStore(database.connection, { ...systemRuntime, now: () => clock });
});

beforeEach(async () => {
  for (const name of ['events', 'feed']) await settings.database.collection(name).deleteMany({});
});

afterAll(async () => {
  await database.close();
  await settings.stop();
});

interface Page {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  json: any;
}

async function list(query = ''): Promise<Page> {
  const { status, json } = await settings.request('GET', `/event${query}`, { caller: reader });
  return { status, json };
}

const append = (...events: TicketChanged[]) => store.append(events);
const listIds = ({ json }: Page) => json.events.map(({ eventId }: { eventId: string }) => eventId);

test('an empty feed has no events, and a cursor that continues with the first', async () => {
  const { json } = await list();
  expect(json).toEqual({ events: [], next: expect.any(String) });
  await append(ticketChanged(1, 1));
  expect(listIds(await list(`?after=${json.next}`))).toEqual(['evt_1_1']);
});

test('an event has the form of the contract', async () => {
  await append(ticketChanged(1, 2));
  expect((await list()).json.events).toEqual([
    {
      eventId: 'evt_1_2',
      type: 'ticket.updated',
      ticketId: 1,
      version: 2,
      subchannelId: null,
      occurredAt: '2026-01-31T09:10:00Z',
      changes: [{ field: 'status', oldValue: 'open', newValue: 'closed' }],
      actor: { profileId: 7, kind: 'user' },
      cause: 'request',
      autoOpenedDueToDueDate: false,
      conversationId: null,
      intentId: null,
    },
  ]);
});

test('next continues after the last event, and stays where it is at the end', async () => {
  await append(...ticketChanges(5));
  const first = await list('?limit=3');
  expect(listIds(first)).toEqual(['evt_1_1', 'evt_1_2', 'evt_1_3']);
  const second = await list(`?limit=3&after=${first.json.next}`);
  expect(listIds(second)).toEqual(['evt_1_4', 'evt_1_5']);
  const end = await list(`?after=${second.json.next}`);
  expect(end.json).toEqual({ events: [], next: second.json.next });
});

test('only events of the given types and ticket are returned', async () => {
  await append(
    ticketChanged(1, 1, { type: TICKET_CREATED }),
    ticketChanged(2, 1, { type: TICKET_CREATED }),
    ticketChanged(1, 2),
    ticketChanged(1, 3, { type: INTENT_EXECUTED }),
  );
  expect(listIds(await list('?types=ticket.created'))).toEqual(['evt_1_1', 'evt_2_1']);
  expect(listIds(await list('?types[]=ticket.created&types[]=intent.executed'))).toEqual([
    'evt_1_1',
    'evt_2_1',
    'evt_1_3',
  ]);
  expect(listIds(await list('?ticketId=1'))).toEqual(['evt_1_1', 'evt_1_2', 'evt_1_3']);
  expect(listIds(await list('?ticketId=1&types=ticket.created&types=intent.executed'))).toEqual(['evt_1_1', 'evt_1_3']);
  expect((await list('?ticketId=3')).json).toEqual({ events: [], next: eventCursor(4) });
});

test.each([
  ['limit=0', 400],
  ['limit=1', 200],
  ['limit=500', 200],
  ['limit=501', 400],
  ['ticketId=0', 400],
  ['types=ticket.exploded', 400],
  ['types=', 400],
  [`after=${'A'.repeat(128)}`, 400],
  [`after=${'A'.repeat(129)}`, 400],
  ['before=x', 400],
])('the query is checked: %s is %i', async (query, status) => {
  expect((await list(`?${query}`)).status).toBe(status);
});

test('at most 500 events are in a page', async () => {
  await append(...ticketChanges(501));
  const page = await list('?limit=500');
  expect(page.json.events).toHaveLength(500);
  expect(listIds(await list(`?after=${page.json.next}`))).toEqual(['evt_1_501']);
});

test('a filter that matches little looks at some thousand events at a time, and next advances', async () => {
  const others = ticketChanges(maxScanned);
  for (let at = 0; at < others.length; at += 1000) await append(...others.slice(at, at + 1000));
  await append(ticketChanged(2, 1, { type: INTENT_EXECUTED }));
  const first = await list('?types=intent.executed');
  expect(first.json).toEqual({ events: [], next: eventCursor(maxScanned) });
  expect(listIds(await list(`?types=intent.executed&after=${first.json.next}`))).toEqual(['evt_2_1']);
  // An index finds the events of a ticket.
  expect(listIds(await list('?ticketId=2'))).toEqual(['evt_2_1']);
  const ofTicket = await list('?ticketId=1&types=intent.executed');
  expect(ofTicket.json).toEqual({ events: [], next: eventCursor(1000) });
});

describe('a cursor', () => {
  test.each(['x', '%00', '../..', eventCursor(3), eventCursor(2 ** 48 - 1), `${eventCursor(1)}=`, '', 'after[a]=1&x'])(
    'that this feed has not given out is refused: %s',
    async (cursor) => {
      await append(...ticketChanges(2));
      const { status, json } = await list(`?after=${cursor}`);
      expect(status).toBe(400);
      if (cursor !== 'after[a]=1&x')
        expect(json).toMatchObject({ code: 'invalid_cursor', errors: [{ pointer: '#/query/after' }] });
    },
  );

  test('at the end is accepted, one beyond it is not', async () => {
    await append(...ticketChanges(2));
    expect((await list(`?after=${eventCursor(2)}`)).status).toBe(200);
    expect((await list(`?after=${eventCursor(3)}`)).status).toBe(400);
  });

  test('whose next event was removed is 410, the one after the removed ones is not', async () => {
    clock -= 31 * 24 * 3_600_000;
    await append(...ticketChanges(3));
    clock += 31 * 24 * 3_600_000;
    await append(ticketChanged(2, 1));
    await store.removeOlderThan(new Date(clock - 30 * 24 * 3_600_000));
    const expired = await list(`?after=${eventCursor(2)}`);
    expect(expired).toMatchObject({ status: 410, json: { code: 'cursor_expired', title: 'Gone' } });
    expect(listIds(await list(`?after=${eventCursor(3)}`))).toEqual(['evt_2_1']);
    expect(listIds(await list())).toEqual(['evt_2_1']);
  });

  test('that was given out before a crash of the database lost the end of the feed is accepted', async () => {
    await append(...ticketChanges(2));
    await settings.database.collection('feed').updateOne({}, { $set: { last: 1 } });
    expect((await list(`?after=${eventCursor(2)}`)).json).toEqual({ events: [], next: eventCursor(2) });
    await append(ticketChanged(1, 2), ticketChanged(1, 3));
    expect(listIds(await list(`?after=${eventCursor(2)}`))).toEqual(['evt_1_3']);
  });
});

test('a caller without the right is refused', async () => {
  const { status } = await settings.request('GET', '/event');
  expect(status).toBe(403);
});
