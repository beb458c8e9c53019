import { Code, ConnectError } from '@connectrpc/connect';
import { AiSupportLevel, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExecutionHarness, startExecutionHarness } from '../../test/execution-harness.ts';
import type { StubTicket } from '../../test/stub-called.ts';
import type { IntentState } from '../intent/rules/intent.ts';

const options = [{ type: 'enter', name: 'Enter', recommended: true, order: 1 }];

let used: ExecutionHarness;

beforeAll(async () => {
  used = await startExecutionHarness();
});
afterAll(() => used.stop());

const now = () => Math.floor(Date.now() / 1000);
const past = () => now() - 1;
const find = (id: number) => used.intents.find(id);
const requestsFor = (id: number) => used.backend.requests.filter(({ body }) => JSON.parse(body).intent.id === id);

async function toTicket(id: number): Promise<StubTicket> {
  const ticket = used.model.tickets.get((await find(id))?.ticketId ?? 0);
  if (!ticket) throw new Error('no ticket');
  return ticket;
}

/** Whether the system has decided about an intent. */
async function isDecided(id: number): Promise<boolean> {
  const intent = await find(id);
  return intent?.autoExecuteAt === null && intent.execution === null;
}

/** Runs a scheduler until it has decided about an intent; by default a new one that is executed. */
async function schedule(id?: number): Promise<void> {
  const awaited = id ?? (await used.intent({ options }, { autoExecuteAt: past() }));
  const scheduler = await used.startInstance({ TICKETING_INTENTS_ROLES: 'api,scheduler' });
  await expect.poll(() => isDecided(awaited)).toBe(true);
  await scheduler.stop();
}

// spec: 10.7, 17.12
test('when its time has come an intent is executed by the system, which says so', async () => {
  const id = await used.intent({ options }, { autoExecuteAt: past() });
  const early = await used.intent({ options }, { autoExecuteAt: now() + 3600 });
  await schedule(id);
  expect(await find(early)).toMatchObject({ status: TicketIntentStatus.READY, outcome: null });
  expect(await find(id)).toMatchObject({
    status: TicketIntentStatus.EXECUTED,
    verified: false,
    outcome: { userId: 0, success: true },
  });
  const [record] = used.model.records.filter(({ intentId }) => intentId === id);
  expect(record).toMatchObject({ aiSupportLevel: AiSupportLevel.AUTOMATED });
  expect([record?.profileId, record?.autoExecuteAt]).toEqual([undefined, undefined]);
  expect(requestsFor(id).map(({ body }) => JSON.parse(body).user)).toEqual([null]);
  expect((await toTicket(id)).autoExecuteAt).toBeUndefined();
});

test('an intent is not executed by the system if its ticket is closed, is spam or has no time for it any more; a person can', async () => {
  const reasons: Partial<StubTicket>[] = [
    // As after a change by a person or a message: the tickets service removes it in the same change.
    { autoExecuteAt: undefined },
    { status: TicketStatus.CLOSED },
    // By its status, or by the tag of a setting.
    { isSpam: true },
  ];
  const ids: number[] = [];
  for (const reason of reasons) {
    const id = await used.intent({ options }, { autoExecuteAt: past() });
    Object.assign(await toTicket(id), reason);
    ids.push(id);
  }
  await schedule();
  for (const id of ids) {
    expect(await find(id)).toMatchObject({ status: TicketIntentStatus.READY, outcome: null, autoExecuteAt: null });
    expect([(await toTicket(id)).autoExecuteAt, requestsFor(id)]).toEqual([undefined, []]);
    (await toTicket(id)).status = TicketStatus.OPEN;
    expect((await used.execute(id)).json).toMatchObject({ success: true, userId: 7 });
  }
});

// guarantee: I23
test('an AI agent that is not enabled any more, or that refuses the intent as it is, executes nothing, and the ticket shows it', async () => {
  const parameters = { required: ['missing'] };
  const refused = await used.intent({ options, parameters }, { autoExecuteAt: past() });
  const off = await used.intent({ options }, { autoExecuteAt: past() });
  const other = await used.agent({ name: 'Other', options });
  const { ticketId, ...proposal } = (await find(off)) as IntentState;
  const later = { ...proposal, aiAgentId: other, autoExecuteAt: now() + 3600 };
  await used.intents.propose([{ ticketId, proposals: [proposal, later] }]);
  await used.manage('PATCH', `/aiAgent/${proposal.aiAgentId}`, { enabled: false });
  await schedule();
  for (const id of [refused, off]) expect(await isDecided(id)).toBe(true);
  expect([...requestsFor(refused), ...requestsFor(off)]).toEqual([]);
  expect((await toTicket(refused)).autoExecuteAt).toBeUndefined();
  // The time of the other intent.
  expect((await toTicket(off)).autoExecuteAt?.seconds).toBeGreaterThan(now() + 3000);
});

test('while the ticket cannot be changed the end of the wait is tried again', async () => {
  const id = await used.intent({ options }, { autoExecuteAt: past() });
  const ticket = await toTicket(id);
  ticket.status = TicketStatus.CLOSED;
  let refusals = 0;
  used.model.before = (operation) => {
    if (operation !== 'replace') return;
    refusals += 1;
    throw new ConnectError('unavailable', Code.Unavailable);
  };
  await schedule();
  expect([await isDecided(id), refusals > 0, ticket.autoExecuteAt]).toEqual([false, true, expect.anything()]);
  used.model.before = () => undefined;
  await schedule(id);
  expect(ticket.autoExecuteAt).toBeUndefined();
});

// guarantee: I23
test('what has definitely failed is not executed by the system once more', async () => {
  const { respond } = used.backend;
  used.backend.respond = (request, response) =>
    request.path === '/refused' ? response.writeHead(400).end() : respond(request, response);
  const executor = { type: 'http', url: `${used.backend.url}/refused` };
  const id = await used.intent({ options, executor }, { autoExecuteAt: past() });
  await schedule(id);
  expect(await find(id)).toMatchObject({ status: TicketIntentStatus.READY, outcome: { success: false } });
  expect((await toTicket(id)).autoExecuteAt).toBeUndefined();
  await schedule();
  expect(requestsFor(id)).toHaveLength(1);
});

// guarantee: I23
test('an intent whose analysis is not applied to its ticket yet waits for it', async () => {
  const id = await used.intent({ options }, { autoExecuteAt: past() });
  const ticket = await toTicket(id);
  const { autoExecuteAt } = ticket;
  ticket.autoExecuteAt = undefined;
  const entry = { _id: ticket.id as never, nextAttemptAt: new Date(), requested: [], attempts: 1, run: null };
  await used.database.collection('analyses').insertOne(entry);
  await schedule();
  expect(await find(id)).toMatchObject({ status: TicketIntentStatus.READY, outcome: null });
  ticket.autoExecuteAt = autoExecuteAt;
  await used.database.collection('analyses').deleteOne({ _id: entry._id });
  await schedule(id);
  expect(requestsFor(id)).toHaveLength(1);
});

// guarantee: F25
test('fifty intents about which nothing can be decided delay no other one', async () => {
  const { ticketId: _, ...proposal } = (await find(await used.intent({ options }))) as IntentState;
  const stuck = Array.from({ length: 50 }, () => used.ticket().id);
  const proposals = [{ ...proposal, autoExecuteAt: past() - 60 }];
  await Promise.all(stuck.map((ticketId) => used.intents.propose([{ ticketId, proposals }])));
  used.model.before = (operation, ticketId) => {
    if (operation === 'read' && stuck.includes(ticketId)) throw new ConnectError('no', Code.Internal);
  };
  const other = await used.intent({ options }, { autoExecuteAt: past() });
  await schedule(other);
  used.model.before = () => undefined;
  expect(requestsFor(other)).toHaveLength(1);
  for (const ticketId of stuck)
    expect(await used.intents.ofTicket(ticketId)).toMatchObject([{ status: TicketIntentStatus.READY }]);
  await used.intents.erase(stuck);
});
