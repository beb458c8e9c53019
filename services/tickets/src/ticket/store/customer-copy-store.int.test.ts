import type { Database } from '@ticketing/store/connection/database.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../../test/harness.ts';
import { type CustomerCopyStore, customerCopyStore, maxCopiedAtOnce } from './customer-copy-store.ts';
import { openTickets } from './schema.ts';

let tickets: TicketsHarness;
let database: Database;
let copies: CustomerCopyStore;
/** Called before the store writes tickets. */
let beforeWrite: () => Promise<void>;

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
  const collection = openTickets(database.connection);
  const delayed = Object.assign(Object.create(collection) as typeof collection, {
    async updateMany(...args: Parameters<typeof collection.updateMany>) {
      await beforeWrite();
      return collection.updateMany(...args);
    },
  });
  copies = customerCopyStore(database.connection, delayed);
});
beforeEach(async () => {
  beforeWrite = async () => undefined;
  await stored().deleteMany({});
});
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

interface Stored {
  _id: number;
  customerId: string;
  customerEmail?: string | null;
}

const stored = () => tickets.database.collection<Stored>('tickets');
const jobs = () => tickets.database.collection('customerCopies').countDocuments();
const add = (count: number, customerId = 'K-1') =>
  stored().insertMany(Array.from({ length: count }, (_, index) => ({ _id: index + 1, customerId })));
const outdated = async (email: string | null) => {
  const found = await stored()
    .find({ customerEmail: { $ne: email } })
    .sort({ _id: 1 })
    .toArray();
  return found.map(({ _id }) => _id);
};
let revisions = 0;
const set = (ticketId: number, email: string | null) =>
  copies.set({
    ...{ customerId: 'K-1', ticketId, revision: `${++revisions}` },
    copy: { customerTagIds: [1], customerEmail: email },
  });

test(`up to ${maxCopiedAtOnce} tickets of a customer are brought up to date at once`, async () => {
  await add(maxCopiedAtOnce);
  await set(1, 'a');
  expect([await outdated('a'), await jobs()]).toEqual([[], 0]);
  expect(await copies.continue()).toBe(false);
});

test('of more, the newest and the one that was read, and the others later', async () => {
  await add(maxCopiedAtOnce + 4);
  await stored().updateOne({ _id: 3 }, { $set: { customerId: 'K-2' } });
  await set(1, 'a');
  expect([await outdated('a'), await jobs()]).toEqual([[2, 3, 4], 1]);
  while (await copies.continue());
  expect([await outdated('a'), await jobs()]).toEqual([[3], 0]);
});

test('the last copy wins, also over one that is still being spread', async () => {
  await add(3 * maxCopiedAtOnce);
  await set(1, 'a');
  expect(await copies.continue(maxCopiedAtOnce + 1)).toBe(true);
  await set(1, 'b');
  while (await copies.continue(maxCopiedAtOnce - 1));
  expect([await outdated('b'), await jobs()]).toEqual([[], 0]);
  await set(1, 'c');
  // There are fewer tickets now, but the work is not done.
  await stored().deleteMany({ _id: { $gt: maxCopiedAtOnce } });
  await set(1, null);
  while (await copies.continue());
  expect([await outdated(null), await jobs()]).toEqual([[], 0]);
});

test('a copy that changes while the last batch of the one before is written is not lost', async () => {
  await add(2 * maxCopiedAtOnce);
  await set(1, 'a');
  const isWriting = Promise.withResolvers<void>();
  const mayWrite = Promise.withResolvers<void>();
  beforeWrite = () => {
    beforeWrite = async () => undefined;
    isWriting.resolve();
    return mayWrite.promise;
  };
  const continuing = copies.continue();
  await isWriting.promise;
  await set(1, 'b');
  mayWrite.resolve();
  await continuing;
  while (await copies.continue());
  expect([await outdated('b'), await jobs()]).toEqual([[], 0]);
});

test('a read leaves what is left to the scheduler', async () => {
  const { json } = await tickets.request('POST', '/ticket', { body: { channel: 'chat', contractId: 'V-1' } });
  const { id } = json;
  const others = Array.from({ length: maxCopiedAtOnce + 1 }, (_, index) => ({
    _id: id + index + 1,
    customerId: 'K-9',
  }));
  await stored().insertMany(others);
  // The ticket has an outdated copy of the customer, whom the ERP system does not know.
  await stored().updateOne({ _id: id }, { $set: { customerId: 'K-9', customerEmail: 'old' } });
  await stored().updateMany({ _id: { $gt: id } }, { $set: { customerEmail: 'old' } });
  expect((await tickets.request('GET', `/ticket/${id}`)).status).toBe(200);
  expect(await outdated(null)).toEqual([id + 1]);
  const scheduler = await tickets.startInstance({ TICKETING_TICKETS_ROLES: 'scheduler' });
  try {
    await expect.poll(() => outdated(null)).toEqual([]);
    await expect.poll(jobs).toBe(0);
  } finally {
    await scheduler.stop();
  }
});
