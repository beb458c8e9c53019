import type { Database } from '@ticketing/store/connection/database.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../../test/harness.ts';
import { type ErpResponseStore, erpResponseStore, maxTicketsOfResponse } from './response-store.ts';

let tickets: TicketsHarness;
let database: Database;
let responses: ErpResponseStore;

const deletedIds = new Set<number>();
const now = new Date('2026-01-01T12:00:00Z');
/** When a response must be valid, if it is kept for 9 seconds. */
const at = (seconds: number) => ({ now: later(seconds).getTime(), keptMs: 9_000 });
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const stored = async () => {
  const documents = await tickets.database.collection<{ _id: string }>('erpResponses').find().toArray();
  return documents.map(({ _id }) => _id).sort();
};

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
  responses = erpResponseStore(database.connection, async (ticketId) => deletedIds.has(ticketId));
});
beforeEach(async () => {
  await tickets.database.collection('erpResponses').deleteMany({});
  deletedIds.clear();
});
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

test('a response is found until it expires', async () => {
  await responses.put('a', '1', later(1));
  expect(await responses.find('a', at(0))).toBe('1');
  expect(await responses.find('a', at(1))).toBeUndefined();
  await responses.put('a', '2', later(2));
  expect(await responses.find('a', at(1))).toBe('2');
});

test('a response is found for no longer because the clock went back', async () => {
  await responses.put('a', '1', later(9));
  expect(await responses.find('a', at(0))).toBe('1');
  // The clock of another replica may be behind.
  expect(await responses.find('a', at(-10))).toBe('1');
  expect(await responses.find('a', at(-11))).toBeUndefined();
});

test('expired responses are removed, and then those that expire first, until few enough are left', async () => {
  for (const seconds of [0, 1, 2, 3]) await responses.put(`a${seconds}`, '1', later(seconds));
  expect(await responses.trim(now, 3)).toBe(3);
  expect(await stored()).toEqual(['a1', 'a2', 'a3']);
  expect(await responses.trim(now, 2)).toBe(2);
  expect(await stored()).toEqual(['a2', 'a3']);
  expect(await responses.trim(now, 0)).toBe(0);
});

test('a response is erased with the last ticket that has used it, also if several are erased at once', async () => {
  await responses.put('a', '1', later(9), 1);
  await responses.find('a', at(0), 2);
  await responses.find('a', at(0), 2);
  await responses.put('a', '2', later(9), 3);
  await responses.put('b', '1', later(9), 1);
  await responses.put('c', '1', later(9));
  await responses.eraseByTicket(1);
  expect(await stored()).toEqual(['a', 'c']);
  await Promise.all([responses.eraseByTicket(2), responses.eraseByTicket(3)]);
  expect(await stored()).toEqual(['c']);
});

test('a response that is kept or used after the deletion of its ticket is erased too', async () => {
  deletedIds.add(1);
  await responses.put('a', '1', later(9), 1);
  await responses.put('b', '1', later(9), 2);
  expect(await responses.find('b', at(0), 1)).toBe('1');
  expect(await stored()).toEqual(['b']);
  await responses.eraseByTicket(2);
  expect(await stored()).toEqual([]);
});

test(`a response that more than ${maxTicketsOfResponse} tickets have used belongs to none of them`, async () => {
  for (const [key, uses] of [
    ['few', maxTicketsOfResponse],
    ['many', maxTicketsOfResponse + 1],
  ] as const) {
    await responses.put(key, '1', later(9), 1);
    for (let ticketId = 2; ticketId <= uses; ticketId++) await responses.find(key, at(0), ticketId);
  }
  for (let ticketId = 1; ticketId <= maxTicketsOfResponse + 1; ticketId++) await responses.eraseByTicket(ticketId);
  expect(await stored()).toEqual(['many']);
});
