import { create as message } from '@bufbuild/protobuf';
import { Code, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import {
  AnalysisService,
  ApplyAnalysisRequestSchema,
  RecordExecutionRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { AiSupportLevel, Priority, SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { ConfidenceColor, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings } from '../settings.ts';

let tickets: TicketsHarness;
const admin = { roleId: 1 };
const settings = { ...defaultSettings };

beforeAll(async () => {
  tickets = await startHarness({ settings: async () => settings });
});
afterAll(() => tickets.stop());

/** A client of the service as the intents service, or as a user. */
function client(isService = true) {
  const { identity, url: baseUrl } = tickets;
  const token = () =>
    isService ? identity.internalToken('tickets', serviceCaller('intents'), 'intents') : identity.issuerToken();
  const transport = createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    interceptors: [
      (next) => async (request) => {
        request.header.set('authorization', `Bearer ${await token()}`);
        return next(request);
      },
    ],
  });
  return createClient(AnalysisService, transport);
}

const created = async (body: object = {}) =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'email', from: 'a@example.com', ...body } })).json;

const outcome = {
  responseCode: 'ok',
  aiAgentId: 4,
  success: true,
  internalData: { a: [1, { $b: null }] },
  executedAt: { seconds: 1_790_000_000n },
  userId: 21,
  sources: [{ id: 1 }],
  txId: 't-1',
};
const intent = {
  id: 7,
  aiAgentId: 4,
  code: 'meter-reading',
  name: 'Enter the meter reading',
  contractId: 'V-1',
  confidence: 0.875,
  confidenceColor: ConfidenceColor.WARNING,
  verified: true,
  status: TicketIntentStatus.EXECUTED,
  data: { 'reading.$of': { day: '2026-01-01' } },
  options: [{ type: 'enter', name: 'Enter', recommended: true, order: 1 }],
  infos: [{ type: 'hint', message: 'Higher than last year' }],
  outcome,
};

function analysisOf(ticketId: number, analysisId: string) {
  return message(ApplyAnalysisRequestSchema, {
    ticketId,
    analysisId,
    ticketVersion: 1,
    text: { sentiment: 'negative', language: 'German', languageCode: 'de', summary: 'Zählerstand' },
    spamStatus: SpamStatus.AUTO_CLEAN,
    intents: {
      intents: [intent],
      aiSupportLevel: AiSupportLevel.BOT,
      autoExecuteAt: { seconds: 1_790_000_060n },
    },
  });
}

// spec: 2.4, 6.4, 6.23, 6.24, 6.31, 6.54, 6.60, 10.12
test('the ticket shows an analysis, in full and in compact form, and is found by its AI agent', async () => {
  const { id } = await created();
  const { version } = await client().applyAnalysis(analysisOf(id, 'a-1'));
  expect(version).toBe(2);
  const { json } = await tickets.request('GET', `/ticket/${id}`);
  expect(json).toMatchObject({
    version: 2,
    sentiment: 'negative',
    language: 'German',
    languageCode: 'de',
    summary: 'Zählerstand',
    spamStatus: 'auto_clean',
    aiSupportLevel: 'bot',
    autoExecuteAt: '2026-09-21 14:14:20',
  });
  await expect(JSON.stringify(json.intents, undefined, 2)).toMatchFileSnapshot('golden/intents.json');
  const filters = [{ key: 'i.aiAgentId', comparator: 'in', values: [4] }];
  const search = await tickets.request('POST', '/ticket/search', { body: { filters } });
  expect(search.json.tickets.map((one: { intents: unknown }) => one.intents)).toEqual([
    [
      {
        id: 7,
        aiAgentId: 4,
        name: intent.name,
        confidenceColor: 'warning',
        infos: [{ type: 'hint', message: 'Higher than last year', extraInfo: null }],
      },
    ],
  ]);
});

test('an analysis is applied once, however often and at once it is sent', async () => {
  const { id } = await created();
  const request = analysisOf(id, 'a-2');
  await Promise.all(Array.from({ length: 10 }, () => client().applyAnalysis(request)));
  await tickets.request('PATCH', `/ticket/${id}`, { body: { status: 'closed' } });
  if (request.text) request.text.summary = 'other';
  await client().applyAnalysis(request);
  expect((await tickets.request('GET', `/ticket/${id}`)).json).toMatchObject({ version: 3, summary: 'Zählerstand' });
});

test('analyses are applied together, each once, and one that cannot be applied does not keep the others', async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, async () => (await created()).id));
  const [deleted = 0, changed = 0, big = 0] = ids;
  await tickets.request('DELETE', `/ticket/${deleted}`, { caller: admin });
  const texts = { subject: 'x'.repeat(10), rawData: { text: 'x'.repeat(3_000_000) } };
  await tickets.request('PATCH', `/ticket/${big}`, { body: texts });
  const analyses = ids.map((id) => analysisOf(id, `b-${id}`));
  const outcomes = async () => (await client().applyAnalyses({ analyses })).analyses;
  const patching = tickets.request('PATCH', `/ticket/${changed}`, { body: { priority: 'urgent' } });
  const first = await outcomes();
  expect((await patching).status).toBe(200);
  expect(first[0]).toMatchObject({ code: Code.NotFound, reason: 'ticket_not_found' });
  expect(first.slice(1).every(({ version = 0, code }) => version >= 2 && code === undefined)).toBe(true);
  for (const id of ids.slice(1)) {
    const document = await tickets.documentOf(id);
    expect(document).toMatchObject({ summary: 'Zählerstand', appliedRequests: [{ id: `b-${id}` }] });
    expect(document.outbox.filter(({ cause }: { cause: string }) => cause === 'analysis')).toHaveLength(1);
  }
  expect((await tickets.documentOf(changed)).priority).toBe(Priority.URGENT);
  const versions = async () => Promise.all(ids.map(async (id) => (await tickets.documentOf(id)).version));
  const before = await versions();
  await Promise.all([outcomes(), outcomes()]);
  expect(await versions()).toEqual(before);
});

test('an analysis of a ticket that is deleted finds none, and leaves nothing', async () => {
  const { id } = await created();
  await client().applyAnalysis(analysisOf(id, 'a-3'));
  await tickets.request('DELETE', `/ticket/${id}`, { caller: admin });
  await expect(client().applyAnalysis(analysisOf(id, 'a-4'))).rejects.toMatchObject({ rawMessage: 'Ticket not found' });
  expect(JSON.stringify(await tickets.documentOf(id))).not.toMatch(/meter|Zähler|reading/);
});

function executionOf(ticketId: number, executionId: string) {
  const change = { id: ticketId, updateMask: { paths: ['priority'] }, priority: Priority.URGENT };
  const recorded = { ticketId, executionId, intentId: 7, intents: [intent], change, close: true };
  return message(RecordExecutionRequestSchema, recorded);
}

test('an execution is one change with what it does to the ticket, recorded once', async () => {
  const { id } = await created();
  const request = executionOf(id, 'x-1');
  await Promise.all(Array.from({ length: 10 }, () => client().recordExecution(request)));
  const { json } = await tickets.request('GET', `/ticket/${id}`);
  expect(json).toMatchObject({ version: 2, status: 'closed', priority: 'urgent', intents: [{ id: 7 }] });
  const document = await tickets.documentOf(id);
  const events = document.outbox.map(({ type, cause, intentId, changes }: Record<string, unknown>) => {
    return { type, cause, intentId, fields: (changes as { field: string }[]).map(({ field }) => field).sort() };
  });
  expect(events.at(-1)).toEqual({
    type: 'intent.executed',
    cause: 'execution',
    intentId: 7,
    fields: ['aiAgentIds', 'closedAt', 'intents', 'priority', 'status'],
  });
});

test('an execution by a person is theirs, and stays when an analysis that has not seen it arrives later', async () => {
  const { id } = await created();
  await client().recordExecution({ ...executionOf(id, 'x-4'), profileId: 21, profileKind: 'user' });
  const document = await tickets.documentOf(id);
  expect(document.outbox.at(-1)).toMatchObject({ actor: { profileId: 21, kind: 'user' } });
  const late = analysisOf(id, 'a-6');
  for (const one of late.intents?.intents ?? [])
    Object.assign(one, { status: TicketIntentStatus.READY, outcome: undefined });
  await client().applyAnalysis(late);
  expect((await tickets.request('GET', `/ticket/${id}`)).json.intents).toMatchObject([
    { status: 'executed', outcome: { txId: 't-1' } },
  ]);
});

const ready = { ...intent, status: TicketIntentStatus.READY, outcome: undefined };
const autoExecuteAt = { seconds: 1_790_000_060n };

/** A ticket with an intent that the system will execute. */
async function waitingTicket(analysisId: string): Promise<number> {
  const { id } = await created();
  const intents = { intents: [ready], aiSupportLevel: AiSupportLevel.BOT, autoExecuteAt };
  await client().applyAnalysis({ ticketId: id, analysisId, ticketVersion: 1, intents });
  expect((await tickets.documentOf(id)).autoExecuteAt).not.toBeNull();
  return id;
}

const machine = { kind: 'codeExecutor' } as const;
const person = { kind: 'vendor' } as const;

test('a change by a machine that adds the spam tag of the settings ends the wait for an execution by the system', async () => {
  const { id: tagId } = (await tickets.request('POST', '/tag', { caller: admin, body: { name: 'Junk' } })).json;
  const id = await waitingTicket('w-tag');
  const { autoExecuteAt: before } = await tickets.documentOf(id);
  const other = await waitingTicket('w-other');
  settings.spamDetectionTagId = tagId;
  for (const [ticketId, tagIds] of [
    [id, [tagId]],
    [other, []],
  ] as const) {
    await tickets.request('PATCH', `/ticket/${ticketId}`, { caller: machine, body: { tagIds, priority: 'high' } });
  }
  settings.spamDetectionTagId = null;
  expect((await tickets.documentOf(id)).autoExecuteAt).toBeNull();
  expect((await tickets.documentOf(other)).autoExecuteAt).toEqual(before);
});

test.each([
  ['a person', person, { priority: 'high' }],
  ['a machine that closes it', machine, { status: 'closed' }],
  ['a machine that says that it is spam', machine, { spamStatus: 'manual_spam' }],
  // guarantee: I23
])('a change by %s ends the wait for an execution by the system, in the same change', async (name, caller, change) => {
  const id = await waitingTicket(`w-${name}`);
  const body = [{ id, ...change }];
  expect((await tickets.request('PATCH', '/ticket', { caller, body })).status).toBe(200);
  const { version, outbox, autoExecuteAt: at } = await tickets.documentOf(id);
  expect([version, at]).toEqual([3, null]);
  expect(outbox.at(-1).changes).toContainEqual({
    field: 'autoExecuteAt',
    oldValue: '2026-09-21T14:14:20Z',
    newValue: null,
  });
  expect(JSON.stringify(outbox)).not.toContain('interventionVersion');
});

// guarantee: I23
test('a message of the customer ends it, and one that a machine sends does not', async () => {
  for (const [direction, isOver] of [
    ['out', false],
    ['in', true],
  ] as const) {
    const id = await waitingTicket(`w-${direction}`);
    const body = { direction, content: { message: 'Hello', type: 'text' } };
    const { status } = await tickets.request('POST', `/ticket/${id}/conversation/store`, { caller: machine, body });
    expect([status, (await tickets.documentOf(id)).autoExecuteAt === null]).toEqual([201, isOver]);
  }
});

// guarantee: I23
test('a change by a machine leaves it, and an execution after it was ended does not bring it back', async () => {
  const id = await waitingTicket('w-keep');
  const patch = (caller: object) => tickets.request('PATCH', `/ticket/${id}`, { caller, body: { status: 'pending' } });
  await patch(machine);
  expect((await tickets.documentOf(id)).autoExecuteAt).not.toBeNull();
  await patch(person);
  const execution = { ticketId: id, executionId: 'x-w', intentId: 7, intents: [intent], autoExecuteAt };
  await client().recordExecution(message(RecordExecutionRequestSchema, execution));
  expect((await tickets.documentOf(id)).autoExecuteAt).toBeNull();
});

// guarantee: I23
test('an analysis that has not seen a change by a person schedules no execution; a later one does', async () => {
  const { id } = await created();
  await tickets.request('PATCH', `/ticket/${id}`, { caller: person, body: { priority: 'high' } });
  const intents = { intents: [ready], aiSupportLevel: AiSupportLevel.BOT, autoExecuteAt };
  await client().applyAnalysis({ ticketId: id, analysisId: 'w-1', ticketVersion: 1, intents });
  expect(await tickets.documentOf(id)).toMatchObject({ autoExecuteAt: null, intents: [{ id: 7 }] });
  await client().applyAnalysis({ ticketId: id, analysisId: 'w-2', ticketVersion: 3, intents });
  expect((await tickets.documentOf(id)).autoExecuteAt).not.toBeNull();
});

test('the time of an execution is replaced if it is still that one', async () => {
  const id = await waitingTicket('w-replace');
  const later = { seconds: autoExecuteAt.seconds + 60n };
  await client().replaceAutoExecution({ ticketId: id, replaced: later });
  expect(await tickets.documentOf(id)).toMatchObject({ version: 2 });
  for (let count = 0; count < 2; count += 1) {
    await client().replaceAutoExecution({ ticketId: id, replaced: autoExecuteAt, autoExecuteAt: later });
  }
  const document = await tickets.documentOf(id);
  expect(document).toMatchObject({ version: 3, autoExecuteAt: new Date('2026-09-21T14:15:20Z') });
  expect(document.outbox.at(-1)).toMatchObject({ type: 'ticket.updated', cause: 'schedule' });
  await client().replaceAutoExecution({ ticketId: id, replaced: later });
  expect(await tickets.documentOf(id)).toMatchObject({ version: 4, autoExecuteAt: null });
});

// spec: 34.5
test('a message can be about intents of its ticket, and about no others', async () => {
  const { id } = await created();
  await client().applyAnalysis(analysisOf(id, 'a-m'));
  const path = `/ticket/${id}/conversation`;
  const write = (method: string, rest: string, body: object) =>
    tickets.request(method, `${path}/${rest}`, { body: { content: { message: 'x', type: 'text' }, ...body } });
  const note = (await write('POST', 'reply', { private: true, intentIds: [7] })).json.conversation;
  const stored = (await write('POST', 'store', { direction: 'in', intentIds: [7] })).json.conversation;
  const draft = (await write('POST', 'reply', { isDraft: true })).json.conversation;
  expect([note.intentIds, stored.intentIds, draft.intentIds]).toEqual([[7], [7], []]);
  const before = await tickets.documentOf(id);
  const refusals = [
    await write('POST', 'reply', { isDraft: true, intentIds: [7, 8] }),
    await write('POST', 'store', { direction: 'in', intentIds: [7, 8] }),
    await write('PATCH', String(draft.id), { intentIds: [7, 8] }),
  ];
  for (const refusal of refusals) expect(violationsOf(refusal)).toEqual(['#/intentIds/1 unknown_intent']);
  expect(violationsOf(await write('PATCH', String(note.id), { intentIds: [7] }))).toEqual(['#/intentIds draft_only']);
  expect(await tickets.documentOf(id)).toEqual(before);
  expect((await write('PATCH', String(draft.id), { intentIds: [7] })).status).toBe(200);
  expect((await tickets.request('GET', `${path}/${draft.id}`)).json).toMatchObject({ intentIds: [7] });
});

test('an execution that is only checked writes nothing', async () => {
  const { id } = await created();
  const before = await tickets.documentOf(id);
  await client().recordExecution({ ...executionOf(id, 'x-2'), validateOnly: true });
  expect(await tickets.documentOf(id)).toEqual(before);
});

test.each([true, false])(
  'a change that PATCH would refuse is refused, also if it is only checked: %s',
  async (only) => {
    const { id } = await created();
    const wrong = executionOf(id, 'x-3');
    wrong.validateOnly = only;
    if (wrong.change) Object.assign(wrong.change, { addTagIds: [999_999], spamStatus: SpamStatus.AUTO_SPAM });
    const error = await client()
      .recordExecution(wrong)
      .catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('2 parts of the request are not valid');
    expect((await tickets.request('GET', `/ticket/${id}`)).json).toMatchObject({ version: 1, status: 'open' });
  },
);

test('only services may send an analysis', async () => {
  const { id } = await created();
  await expect(client(false).applyAnalysis(analysisOf(id, 'a-5'))).rejects.toThrow(/permission_denied|unauthenticated/);
  expect((await tickets.request('GET', `/ticket/${id}`)).json).toMatchObject({ version: 1, intents: [] });
});
