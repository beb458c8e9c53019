import type { Database } from '@ticketing/store/database.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ErpAnswerStore, erpAnswerStore, maxTicketsOfAnswer } from '../src/store/erp-answer-store.ts';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
let database: Database;
let answers: ErpAnswerStore;

const deletedIds = new Set<number>();
const now = new Date('2026-01-01T12:00:00Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const stored = async () => {
  const documents = await tickets.database.collection<{ _id: string }>('erpAnswers').find().toArray();
  return documents.map(({ _id }) => _id).sort();
};

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
  answers = erpAnswerStore(database.connection, async (ticketId) => deletedIds.has(ticketId));
});
beforeEach(async () => {
  await tickets.database.collection('erpAnswers').deleteMany({});
  deletedIds.clear();
});
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

test('an answer is found until it expires', async () => {
  await answers.put('a', '1', later(1));
  expect(await answers.find('a', now)).toBe('1');
  expect(await answers.find('a', later(1))).toBeUndefined();
  await answers.put('a', '2', later(2));
  expect(await answers.find('a', later(1))).toBe('2');
});

test('expired answers are removed, and then those that expire first, until few enough are left', async () => {
  for (const seconds of [0, 1, 2, 3]) await answers.put(`a${seconds}`, '1', later(seconds));
  expect(await answers.trim(now, 3)).toBe(3);
  expect(await stored()).toEqual(['a1', 'a2', 'a3']);
  expect(await answers.trim(now, 2)).toBe(2);
  expect(await stored()).toEqual(['a2', 'a3']);
  expect(await answers.trim(now, 0)).toBe(0);
});

test('an answer is erased with the last ticket that has used it, also if several are erased at once', async () => {
  await answers.put('a', '1', later(9), 1);
  await answers.find('a', now, 2);
  await answers.find('a', now, 2);
  await answers.put('a', '2', later(9), 3);
  await answers.put('b', '1', later(9), 1);
  await answers.put('c', '1', later(9));
  await answers.eraseOf(1);
  expect(await stored()).toEqual(['a', 'c']);
  await Promise.all([answers.eraseOf(2), answers.eraseOf(3)]);
  expect(await stored()).toEqual(['c']);
});

test('an answer that is kept or used after the deletion of its ticket is erased too', async () => {
  deletedIds.add(1);
  await answers.put('a', '1', later(9), 1);
  await answers.put('b', '1', later(9), 2);
  expect(await answers.find('b', now, 1)).toBe('1');
  expect(await stored()).toEqual(['b']);
  await answers.eraseOf(2);
  expect(await stored()).toEqual([]);
});

test(`an answer that more than ${maxTicketsOfAnswer} tickets have used belongs to none of them`, async () => {
  for (const [key, uses] of [
    ['few', maxTicketsOfAnswer],
    ['many', maxTicketsOfAnswer + 1],
  ] as const) {
    await answers.put(key, '1', later(9), 1);
    for (let ticketId = 2; ticketId <= uses; ticketId++) await answers.find(key, now, ticketId);
  }
  for (let ticketId = 1; ticketId <= maxTicketsOfAnswer + 1; ticketId++) await answers.eraseOf(ticketId);
  expect(await stored()).toEqual(['many']);
});
