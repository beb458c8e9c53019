import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { batchedUpdate } from './batched-update.ts';
import { openTickets, type TicketCollection } from './schema.ts';

let tickets: TicketCollection;

beforeAll(async () => {
  tickets = openTickets(await testDatabase());
});
beforeEach(async () => {
  vi.restoreAllMocks();
  await tickets.deleteMany({});
  await tickets.insertMany([1, 2, 3, 4].map((_id) => ({ _id, version: 1, appliedRequests: [] })) as never);
});

/** An update of a ticket in a version, by the request `r<id>`. */
const change = (ticketId: number, version = 1) => ({
  ticketId,
  requestId: `r${ticketId}`,
  filter: { _id: ticketId, version },
  update: { $set: { version: version + 1 }, $push: { appliedRequests: { id: `r${ticketId}` } } },
});
const versions = async () => (await tickets.find({}, { sort: { _id: 1 } }).toArray()).map(({ version }) => version);

test('updates that arrive together are one command, and say which of them matched', async () => {
  const bulkWrite = vi.spyOn(tickets, 'bulkWrite');
  const update = batchedUpdate(tickets);
  const written = await Promise.all([update(change(1)), update(change(2, 7)), update(change(3)), update(change(9))]);
  expect(written).toEqual([true, false, true, false]);
  expect(await versions()).toEqual([2, 1, 2, 1]);
  expect(bulkWrite).toHaveBeenCalledTimes(1);
  expect([await update(change(4)), await update(change(4))]).toEqual([true, false]);
});

test('an update that fails keeps no other of its batch from being made, and each is made once', async () => {
  const update = batchedUpdate(tickets);
  const failing = { ...change(2), update: { $inc: { appliedRequests: 1 } } };
  const ends = await Promise.allSettled([update(change(1)), update(failing), update(change(3))]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await versions()).toEqual([2, 1, 2, 1]);
});
