import { create, fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  FieldChangeSchema,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { startWakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { turns } from '@ticketing/testkit/turns.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventStore, StoredEvent } from './store.ts';
import { type FeedTail, feedTail } from './tail.ts';

const all = { types: [] };
const never = new AbortController().signal;

const pollMs = { busy: 5, idle: 20 };

let events: StoredEvent[];
let operations: string[];
let isDown: boolean;
let errors: unknown[];
let tail: FeedTail;
let open: (pollMs: { busy: number; idle: number }) => FeedTail;

beforeEach(() => {
  events = [];
  operations = [];
  errors = [];
  isDown = false;
  const read = <Result>(name: string, result: Result) => {
    operations.push(name);
    return isDown ? Promise.reject(new Error('down')) : Promise.resolve(result);
  };
  const store: Partial<EventStore> = {
    bounds: () => read('bounds', events.length === 0 ? undefined : { first: 1, last: events.length }),
    between: (after, upTo, _filter, limit) => read('between', events.slice(after, upTo).slice(0, limit)),
  };
  open = (pollMs) => feedTail(store as EventStore, (error) => errors.push(error), pollMs);
  tail = open(pollMs);
});

afterEach(async () => {
  await tail.close();
});

function append(count: number): void {
  for (let index = 0; index < count; index++) {
    const position = events.length + 1;
    const event = create(TicketChangedSchema, { eventId: `evt_${position}`, ticketId: position });
    events.push({ position, receivedAt: new Date(0), event });
  }
}

const looks = () => operations.filter((name) => name === 'bounds').length;
const looked = async (more: number) => {
  const enough = looks() + more;
  await expect.poll(looks, { interval: 1 }).toBeGreaterThanOrEqual(enough);
};

/** Lets pass the time of several looks, which another loop with the same pauses makes. */
const passTime = async () => {
  let marks = 0;
  const run = async () => {
    marks += 1;
    return 'nothing' as const;
  };
  const marker = startWakefulLoop({ pollMs, run, onError: () => 0 });
  await expect.poll(() => marks, { interval: 5 }).toBeGreaterThan(5);
  await marker.stop();
};

test('nothing is read while nobody follows', async () => {
  append(1);
  tail.wake();
  expect(operations).toEqual([]);
  const leave = tail.follow();
  expect(looks()).toBe(1);
  leave();
  leave();
  // A look that had begun may end.
  await turns(20);
  const before = operations.length;
  tail.wake();
  await passTime();
  expect(operations.length).toBe(before);
});

test('many followers cost one read in each period while nothing happens', async () => {
  append(1);
  for (let index = 0; index < 1_000; index++) tail.follow();
  await looked(5);
  operations = [];
  await looked(10);
  expect(operations.length).toBeLessThan(100);
  expect(new Set(operations)).toEqual(new Set(['bounds']));
});

test('an event of this process is seen before the next look is due', async () => {
  await tail.close();
  tail = open({ busy: 600_000, idle: 600_000 });
  append(1);
  tail.follow();
  await tail.advanced(0, never);
  append(1);
  const seen = tail.advanced(1, never);
  tail.wake();
  await seen;
  await tail.close();
});

test('an event of another process is seen by the next look', async () => {
  tail.follow();
  await looked(5);
  append(1);
  const before = looks();
  await tail.advanced(0, never);
  expect(looks()).toBe(before + 1);
});

test('new events are read once for all followers', async () => {
  append(1);
  for (let index = 0; index < 100; index++) tail.follow();
  await tail.advanced(0, never);
  append(3);
  await tail.advanced(1, never);
  operations = [];
  for (let index = 0; index < 100; index++) {
    const { events: read, next } = await tail.read(1, all);
    expect([read.map(({ position }) => position), next]).toEqual([[2, 3, 4], 4]);
  }
  expect(await tail.read(3, { types: [], ticketId: 9 })).toEqual({ events: [], next: 4 });
  expect(operations).not.toContain('between');
});

test('a follower behind the shared events reads pages from the store', async () => {
  append(10);
  tail.follow();
  await tail.advanced(0, never);
  append(1_001);
  await tail.advanced(10, never);
  const { events: page, next } = await tail.read(10, all);
  expect(page.map(({ position }) => position)).toEqual(Array.from({ length: 100 }, (_, index) => index + 11));
  expect(next).toBe(110);
  operations = [];
  expect((await tail.read(11, all)).events).toHaveLength(100);
  expect(operations).not.toContain('between');
});

test('an unavailable store is reported once, and its followers wait', async () => {
  tail.follow();
  isDown = true;
  await looked(5);
  expect(errors).toHaveLength(1);
  isDown = false;
  append(1);
  await tail.advanced(0, never);
});

test('waiting ends with its signal', async () => {
  const leaving = new AbortController();
  const waiting = tail.advanced(5, leaving.signal);
  leaving.abort();
  await waiting;
  await tail.advanced(5, leaving.signal);
});

test('the events of a ticket that is deleted are shown without its ids, from memory too', async () => {
  const leave = tail.follow();
  append(1);
  await looked(2);
  const change = create(FieldChangeSchema, { field: 'customerId', newValue: fromJson(ValueSchema, 'K-1') });
  const ofTicket = (eventId: string, type: TicketChangeType) =>
    create(TicketChangedSchema, { eventId, ticketId: 2, type, changes: [change] });
  const add = (event: StoredEvent['event']) =>
    events.push({ position: events.length + 1, receivedAt: new Date(0), event });
  add(ofTicket('evt_2', TicketChangeType.TICKET_UPDATED));
  const values = async () =>
    (await tail.read(1, all)).events.flatMap(({ event }) =>
      event.changes.map(({ newValue }) => newValue !== undefined),
    );
  await expect.poll(values).toEqual([true]);
  add(ofTicket('evt_3', TicketChangeType.TICKET_DELETED));
  await expect.poll(values).toEqual([false, false]);
  leave();
});
