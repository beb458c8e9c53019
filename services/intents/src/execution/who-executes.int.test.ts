import { Code } from '@connectrpc/connect';
import { IntentService } from '@ticketing/contracts/ticketing/intents/v1/intent_service_pb.ts';
import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ExecutionHarness, startExecutionHarness } from '../../test/execution-harness.ts';

let used: ExecutionHarness;
const options = [{ type: 'go', name: 'Go', recommended: true, order: 1 }];
const vendor = { kind: 'vendor' as const, profileId: 9, roleId: 3, permissions: [] };

beforeAll(async () => {
  used = await startExecutionHarness();
});
afterAll(() => used.stop());
beforeEach(() => {
  used.backend.requests = [];
  Object.assign(used.model, { records: [], replies: [] });
});

/** An executable intent, its AI agent and its ticket. */
async function proposed(agent: object = {}) {
  const id = await used.intent({ options, ...agent });
  const { aiAgentId = 0, ticketId = 0, code = '' } = (await used.intents.find(id)) ?? {};
  const change = async (changes: object) => {
    const changed = await used.manage('PATCH', `/aiAgent/${aiAgentId}`, changes);
    expect(changed.status, changed.text).toBe(200);
  };
  const ticket = used.model.tickets.get(ticketId);
  if (!ticket) throw new Error('no ticket');
  return { id, code, ticket, change };
}

const execute = async (id: number, body: object = {}, caller?: object) => {
  const request = { body, ...(caller ? { caller } : {}) };
  const { status, json } = await used.request('POST', `/intent/${id}/execute`, request);
  return [status, json.code ?? json.responseCode];
};

/** Every way to have an intent executed by a request. */
async function attempts({ id, code, ticket }: { id: number; code: string; ticket: { id: number } }, caller?: object) {
  const newIntent = { code, ticketId: ticket.id, data: { reading: 5 } };
  const bodies: [number, object][] = [
    [id, {}],
    [id, { dryRun: true }],
    [0, newIntent],
    [0, { ...newIntent, dryRun: true }],
  ];
  const responses = [];
  for (const [path, body] of bodies) responses.push(await execute(path, body, caller));
  return responses;
}

/** Expects that nothing was executed, and no intent was created. */
async function expectNothing({ ticket }: { ticket: { id: number } }): Promise<void> {
  expect([used.backend.requests, used.model.records, used.model.replies]).toEqual([[], [], []]);
  expect(await used.intents.ofTicket(ticket.id)).toMatchObject([{ outcome: null, execution: null }]);
}

const four = (response: unknown[]) => Array.from({ length: 4 }, () => response);

describe.each([
  ['http', {}],
  ['none', { executor: { type: 'none' } }],
  ['closeTicket', { executor: { type: 'closeTicket' } }],
])('a disabled AI agent of type %s', (_, agent) => {
  // guarantee: I26
  test('executes nothing, until it is enabled again', async () => {
    const intent = await proposed(agent);
    await intent.change({ enabled: false });
    expect(await attempts(intent)).toEqual(four([409, 'ai_agent_disabled']));
    expect(await attempts(intent, { roleId: 1 })).toEqual(four([409, 'ai_agent_disabled']));
    await expectNothing(intent);
    await intent.change({ enabled: true });
    expect(await execute(intent.id)).toEqual([200, 'ok']);
  });
});

describe('who may execute an AI agent', () => {
  // guarantee: I26
  test('by default leaves out vendors where a backend system is called', async () => {
    const intent = await proposed();
    for (const kind of ['vendor', 'vendorPartner'])
      expect(await attempts(intent, { ...vendor, kind })).toEqual(four([403, 'kind_not_allowed']));
    await expectNothing(intent);
    expect(await execute(intent.id)).toEqual([200, 'ok']);
    // The stored result is no execution.
    expect(await execute(intent.id, {}, vendor)).toEqual([200, 'ok']);
    expect(used.backend.requests).toHaveLength(1);
    const other = await proposed({ executor: { type: 'closeTicket' } });
    expect(await execute(other.id, {}, vendor)).toEqual([200, 'ok']);
  });

  // guarantee: I26
  test('is what the AI agent says: kinds, and a right', async () => {
    const executableBy = { kinds: ['vendor'], permission: 'executePayouts' };
    const intent = await proposed({ executableBy });
    expect(await attempts(intent, vendor)).toEqual(four([403, 'missing_right']));
    expect(await attempts(intent, { permissions: ['executePayouts'] })).toEqual(four([403, 'kind_not_allowed']));
    await expectNothing(intent);
    expect(await execute(intent.id, {}, { ...vendor, permissions: ['executePayouts'] })).toEqual([200, 'ok']);
  });

  test('is the same by RPC', async () => {
    const intent = await proposed();
    const client = await used.openClient(IntentService, { caller: vendor });
    await expect(client.executeIntent({ id: intent.id })).rejects.toMatchObject({ code: Code.PermissionDenied });
    await intent.change({ enabled: false });
    const other = await used.openClient(IntentService, { caller: {} });
    await expect(other.executeIntent({ id: intent.id })).rejects.toMatchObject({ code: Code.FailedPrecondition });
    await expectNothing(intent);
  });
});

describe('a closed ticket', () => {
  // guarantee: I26
  test('is not one for which a backend system is called, unless its AI agent allows it', async () => {
    const intent = await proposed();
    intent.ticket.status = TicketStatus.CLOSED;
    expect(await attempts(intent)).toEqual(four([409, 'ticket_closed']));
    await expectNothing(intent);
    await intent.change({ allowClosed: true });
    expect(await execute(intent.id)).toEqual([200, 'ok']);
  });

  test.each([
    { type: 'reply', templateId: 12 },
    { type: 'closeTicket' },
    { type: 'updateTicket', fields: { status: 'open' } },
    { type: 'none' },
  ])('is one for which %j is executed, unless its AI agent forbids it', async (executor) => {
    used.model.templateIds.add(12);
    const intent = await proposed({ executor });
    intent.ticket.status = TicketStatus.CLOSED;
    await intent.change({ allowClosed: false });
    expect(await attempts(intent)).toEqual(four([409, 'ticket_closed']));
    await expectNothing(intent);
    await intent.change({ allowClosed: null });
    expect(await execute(intent.id)).toEqual([200, 'ok']);
  });
});

test('the stored result of an execution is returned when its AI agent is disabled, and its ticket closed by it', async () => {
  const intent = await proposed();
  expect(await execute(intent.id, { informCustomer: true })).toEqual([200, 'ok']);
  intent.ticket.status = TicketStatus.CLOSED;
  await intent.change({ enabled: false });
  expect(await execute(intent.id, { informCustomer: true })).toEqual([200, 'ok']);
  expect(await execute(intent.id, { dryRun: true })).toEqual([200, 'ok']);
  expect([used.backend.requests.length, used.model.replies.length]).toEqual([1, 1]);
});

test('an AI agent that an earlier version has stored has the defaults, and one of now keeps its rules there', async () => {
  const intent = await proposed({ executableBy: { kinds: ['vendor'], permission: null }, allowClosed: true });
  const agents = used.database.collection('aiAgents');
  const before = await agents.findOne({ slug: intent.code });
  expect(Object.keys(before ?? {})).not.toContain('executableBy');
  const { executableBy: _, allowClosed: _closed, ...executor } = JSON.parse(before?.executor);
  await agents.updateOne({ slug: intent.code }, { $set: { executor: JSON.stringify(executor) } });
  const { json } = await used.manage('GET', `/aiAgent/${before?._id}`);
  expect(json).toMatchObject({ executableBy: { kinds: [], permission: null }, allowClosed: null });
  expect(await execute(intent.id, {}, vendor)).toEqual([403, 'kind_not_allowed']);
});
