import { create } from '@bufbuild/protobuf';
import {
  ConfidenceColor,
  IntentOutcomeSchema,
  TicketIntentStatus,
} from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import type { Connection } from 'mongoose';
import { beforeAll, expect, test } from 'vitest';
import { executionStore } from '../execution/store.ts';
import type { IntentProposal } from './rules/intent.ts';
import { buildIntentIndexes, type IntentStore, intentCollection, intentStore } from './store.ts';

const { READY, EXECUTED, INVALIDATED } = TicketIntentStatus;

let connection: Connection;
let intents: IntentStore;

beforeAll(async () => {
  connection = await testDatabase();
  await buildIntentIndexes(connection);
  intents = intentStore(connection, { among: async () => new Set() });
});

function proposal(changes: Partial<IntentProposal> = {}): IntentProposal {
  return {
    aiAgentId: 4,
    code: 'meter-reading',
    name: 'Enter the meter reading',
    contractId: 'V-1',
    confidence: 0.9,
    confidenceColor: ConfidenceColor.SUCCESS,
    messagePreview: null,
    recipient: null,
    data: { reading: 5, 'of.$day': { b: 1, a: [null] } },
    options: [{ type: 'enter', name: 'Enter', icon: null, recommended: true, order: 1 }],
    infos: [],
    autoExecuteAt: 1_900_000_000,
    ...changes,
  };
}

const propose = (ticketId: number, ...proposals: IntentProposal[]) => intents.propose([{ ticketId, proposals }]);
const set = (id: number, fields: object) => intentCollection(connection).updateOne({ _id: id }, { $set: fields });

test('what is proposed again keeps its id, and what is not any more is invalidated', async () => {
  await propose(1, proposal(), proposal({ aiAgentId: 5 }));
  const [first, second] = await intents.ofTicket(1);
  expect([first?.status, second?.status]).toEqual([READY, READY]);
  const reordered = { 'of.$day': { a: [null], b: 1 }, reading: 5 };
  await propose(
    1,
    proposal({ data: reordered, confidence: 0.5, autoExecuteAt: null }),
    proposal({ data: { reading: 6 } }),
  );
  const found = await intents.ofTicket(1);
  expect(found.map(({ id, status, confidence }) => [id, status, confidence])).toEqual([
    [first?.id, READY, 0.5],
    [second?.id, INVALIDATED, 0.9],
    [expect.any(Number), READY, 0.9],
  ]);
  expect(found.map(({ autoExecuteAt }) => autoExecuteAt)).toEqual([null, null, 1_900_000_000]);
});

test('what was executed, is being executed or was made by a request stays, and is not proposed again', async () => {
  await propose(2, proposal(), proposal({ aiAgentId: 5 }));
  const [executed, running] = await intents.ofTicket(2);
  await set(executed?.id ?? 0, { status: EXECUTED });
  await set(running?.id ?? 0, { execution: '{}' });
  const before = await intents.ofTicket(2);
  await intents.add({ ...proposal(), ...(executed as NonNullable<typeof executed>), id: 900, proposedBy: 'request' });
  const own = await intents.find(900);
  await propose(2, proposal({ name: 'other' }), proposal({ aiAgentId: 5, name: 'other' }));
  await propose(2);
  expect(await intents.ofTicket(2)).toEqual([...before, own]);
});

// guarantee: I23
test('what has failed is proposed again, but gets no time at which the system would execute it once more', async () => {
  await propose(8, proposal());
  const [failed] = await intents.ofTicket(8);
  await set(failed?.id ?? 0, { outcome: '{"success":false}', autoExecuteAt: null });
  await propose(8, proposal({ confidence: 0.5 }));
  expect(await intents.ofTicket(8)).toMatchObject([
    { id: failed?.id, status: READY, confidence: 0.5, autoExecuteAt: null, outcome: { success: false } },
  ]);
});

test('ten analyses at once propose nothing twice', async () => {
  await Promise.all(Array.from({ length: 10 }, () => propose(3, proposal(), proposal({ contractId: null }))));
  expect((await intents.ofTicket(3)).map(({ status }) => status)).toEqual([READY, READY]);
});

test('the last ten invalidated intents are kept', async () => {
  for (let reading = 1; reading <= 12; reading++) await propose(4, proposal({ data: { reading } }));
  const found = await intents.ofTicket(4);
  expect(found.map(({ data, status }) => [data?.reading, status])).toEqual([
    ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((reading) => [reading, INVALIDATED]),
    [12, READY],
  ]);
});

test('a ticket shows as many intents as have 1 MiB together, those that can be executed first', async () => {
  const text = 'x'.repeat(250 * 1024);
  await propose(5, ...[1, 2, 3, 4, 5].map((aiAgentId) => proposal({ aiAgentId, data: { text } })));
  const all = await intentCollection(connection).find({ ticketId: 5 }).sort({ _id: 1 }).toArray();
  const ids = all.map(({ _id }) => _id);
  await set(ids[4] ?? 0, { status: EXECUTED });
  expect((await intents.ofTicket(5)).map(({ id }) => id)).toEqual(ids.slice(0, 4));
});

test('a ticket shows as many intents as have 16,000 values together, and leaves out only those that are too many', async () => {
  const list = (length: number) => Array.from({ length }, () => 1);
  const sizes = [5000, 5000, 12_000, 5000];
  await propose(18, ...sizes.map((size, index) => proposal({ aiAgentId: index + 1, data: { list: list(size) } })));
  expect((await intents.ofTicket(18)).map(({ aiAgentId }) => aiAgentId)).toEqual([1, 2, 4]);
});

test('the outcome of an execution counts among the bytes that a ticket shows', async () => {
  const executions = executionStore(connection);
  await propose(19, ...[1, 2, 3].map((aiAgentId) => proposal({ aiAgentId })));
  for (const { id } of await intents.ofTicket(19)) {
    const claimed = await executions.begin(id, { txId: `tx${id}` } as never);
    const outcome = create(IntentOutcomeSchema, { success: true, message: 'x'.repeat(400 * 1024) });
    if (claimed) await executions.release(claimed.claim, { outcome, status: EXECUTED, execution: null });
  }
  expect((await intents.ofTicket(19)).map(({ aiAgentId }) => aiAgentId)).toEqual([2, 3]);
});

test('a ticket shows at most 100 intents', async () => {
  await propose(6, ...Array.from({ length: 101 }, (_, index) => proposal({ aiAgentId: index + 1 })));
  expect((await intents.ofTicket(6)).map(({ aiAgentId }) => aiAgentId)).toEqual(
    Array.from({ length: 100 }, (_, index) => index + 2),
  );
});

// spec: 25.4
test('nothing is left of the intents of a ticket that is erased', async () => {
  await propose(7, proposal());
  await intents.erase([7]);
  expect(await intents.ofTicket(7)).toEqual([]);
});
