import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { Condition } from '@ticketing/rest/codec/filter.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { combineQueries } from '@ticketing/store/document/field-query.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../../test/harness.ts';
import { insertTickets, randomTickets } from '../../../test/naive-ticket.ts';
import { newProcess } from '../../../test/new-process.ts';
import { type ClosedIdStore, closedAfterMs, maxGap } from './closed-id-store.ts';
import type { CountedList } from './count-store.ts';
import { compileConditions } from './filter-query.ts';

let tickets: TicketsHarness;
let database: Database;
const start = Date.now();

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
});
beforeEach(async () => {
  await tickets.database.collection('tickets').deleteMany({});
  await tickets.database.collection('closedIds').deleteMany({});
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

const process = (): ClosedIdStore => newProcess(tickets, database).closedIds;
const at = (ms: number) => new Date(start + ms);
const documentsOf = () => tickets.database.collection<{ _id: number }>('tickets').find({}).sort({ _id: 1 }).toArray();

async function createAt(id: number): Promise<void> {
  const [ticket] = randomTickets(1, 1);
  if (ticket) await insertTickets(tickets, [{ ...ticket, id }]);
}

async function closeAll(): Promise<void> {
  await process().close(at(0));
  await process().close(at(closedAfterMs));
}

test('an id is closed when it has been the highest one for some time, and not before', async () => {
  await createAt(3);
  await process().close(at(0));
  await createAt(5);
  await process().close(at(closedAfterMs - 1));
  expect(await process().last()).toBe(0);
  await process().close(at(closedAfterMs));
  expect(await process().last()).toBe(3);
  await process().close(at(2 * closedAfterMs));
  expect(await process().last()).toBe(5);
});

test('ids that no ticket has got become void: nobody sees them, and no service has to erase anything', async () => {
  await createAt(3);
  await closeAll();
  expect((await documentsOf()).map(({ _id }) => _id)).toEqual([1, 2, 3]);
  const missing = await tickets.request('GET', '/ticket/2');
  expect([missing.status, missing.json.code]).toEqual([404, 'ticket_not_found']);
  const { json } = await tickets.request('POST', '/ticket/search', { body: { limit: 10 } });
  expect([json.total, json.tickets.map(({ id }: { id: number }) => id)]).toEqual([1, [3]]);
  const snapshots = await tickets.openClient(SnapshotService);
  const { versions } = await snapshots.listTicketVersions({ afterId: 0, limit: 10 });
  expect(versions.map(({ ticketId, deleted }) => [ticketId, deleted])).toEqual([[3, false]]);
  expect(await newProcess(tickets, database).erasures.pendingByService()).toEqual([]);
});

test(`a gap of ${maxGap} ids is filled; a longer one never is, and closed ids end before it`, async () => {
  await createAt(1);
  await createAt(maxGap + 2);
  await closeAll();
  expect(await process().last()).toBe(maxGap + 2);
  await createAt(2 * maxGap + 4);
  await process().close(at(2 * closedAfterMs));
  await process().close(at(3 * closedAfterMs));
  expect(await process().last()).toBe(maxGap + 2);
  expect(await documentsOf()).toHaveLength(maxGap + 3);
  const { json } = await tickets.request('POST', '/ticket/search', { body: { limit: 1 } });
  expect(json.total).toBe(3);
});

const listOf = (conditions: readonly Condition[]): CountedList => ({
  query: combineQueries(compileConditions(conditions, { now: 0, defaultCountry: null })),
  conditions,
  isUnscoped: true,
});

/** The different totals of lists that one process counts again and again during some work. */
async function totalsDuring(lists: readonly CountedList[], work: () => Promise<void>): Promise<number[]> {
  const { ticketCounts } = newProcess(tickets, database);
  const totals = new Set<number>();
  const count = async () => {
    for (const list of lists) totals.add(await ticketCounts.count(list));
  };
  await count();
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  while (!isDone) await count();
  await working;
  await count();
  return [...totals];
}

const documents = () => tickets.database.collection<{ _id: number; status: string; priority: number }>('tickets');

test('totals are exact while ids become void', async () => {
  const last = 3_000;
  await createAt(1);
  await createAt(last);
  await process().close(at(0));
  const isOfOther: Condition = { key: 't.agentId', operator: 'notIn', values: [-1], orUnset: true };
  const totals = await totalsDuring([listOf([]), listOf([isOfOther])], () => process().close(at(closedAfterMs)));
  expect(await process().last()).toBe(last);
  expect(totals).toEqual([2]);
});

test('the total of a status that most tickets have is exact while others are created', async () => {
  const closed = Array.from({ length: 1_500 }, (_, index) => ({ _id: index + 1, status: 'closed', priority: 1 }));
  await documents().insertMany(closed);
  await closeAll();
  const isClosed: Condition = { key: 't.status', operator: 'in', values: ['closed'], orUnset: false };
  const totals = await totalsDuring([listOf([isClosed])], async () => {
    for (let nth = 1; nth <= 300; nth++) {
      await documents().insertOne({ _id: closed.length + nth, status: 'open', priority: 1 });
    }
  });
  expect(totals).toEqual([closed.length]);
});

// guarantee: F18
test('closing that is interrupted at any write continues in another process', async () => {
  const steps = await crashAtEachWrite(async (nth, when) => {
    await tickets.database.collection('tickets').deleteMany({});
    await tickets.database.collection('closedIds').deleteMany({});
    await createAt(2);
    await createAt(5);
    await process().close(at(0));
    const hasDied = await crashAtWrite(nth, when, () => process().close(at(closedAfterMs)));
    const { length } = await documentsOf();
    // The closed ids are complete at any time.
    expect(await process().last()).toBeLessThanOrEqual(length);
    await process().close(at(closedAfterMs));
    expect([await process().last(), (await documentsOf()).length]).toEqual([5, 5]);
    return hasDied;
  });
  expect(steps).toBeGreaterThanOrEqual(2);
});

// guarantee: F18
test('if a document is missing, as after the restore of a backup, the first run of a process opens all ids again', async () => {
  await createAt(4);
  await closeAll();
  expect(await process().openIfIncomplete()).toBe(false);
  await tickets.database.collection<{ _id: number }>('tickets').deleteOne({ _id: 2 });
  for (const { name, run } of newProcess(tickets, database).tasks) if (name === 'close ids') await run();
  expect(await process().last()).toBe(0);
  await process().close(at(3 * closedAfterMs));
  expect([await process().last(), (await documentsOf()).length]).toEqual([4, 4]);
});
