import { Code, ConnectError } from '@connectrpc/connect';
import { ChangeCause } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import {
  AiSupportLevel,
  Channel,
  SpamStatus,
  TicketStatus,
} from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { ConfidenceColor } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { AiProcess, RefreshMode } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type AnalysedStub,
  type AnalysisHarness,
  startAnalysisHarness,
  TicketChangeType,
} from '../../test/analysis-harness.ts';
import { previewMs } from './compute-analyses.ts';

let used: AnalysisHarness;
let agentId: number;

beforeAll(async () => {
  used = await startAnalysisHarness('api,consumer,analyser');
  agentId = await used.agent({
    name: 'Lower the instalment',
    detection: { keywords: ['Abschlag'] },
    options: [{ type: 'lower', name: 'Lower', recommended: true, order: 1 }],
    autoExecuteAfterMinutes: 10,
  });
});
afterAll(() => used.stop());
beforeEach(() => {
  used.model.before = () => undefined;
});

/** Waits until an analysis that was attempted in vain is applied, without its pauses. */
const isAppliedAgain = (id: number) =>
  expect.poll(() => used.endPause(id).then(() => used.appliedTo(id))).toHaveLength(1);
const isIdle = () => expect.poll(() => used.queued()).toBe(0);

// spec: 6.36, 6.52, 21.3
test('a new ticket is analysed once: text, tags and intents are one change', async () => {
  const { id } = used.ticket();
  await used.publish(id, TicketChangeType.TICKET_CREATED);
  await expect.poll(() => used.appliedTo(id)).toHaveLength(1);
  const [applied] = used.appliedTo(id);
  expect(applied).toMatchObject({
    isRefresh: false,
    text: {
      language: 'German',
      languageCode: 'de',
      sentiment: 'negative',
      summary: expect.stringContaining('Abschlag'),
    },
    tagIds: [5],
    intents: {
      aiSupportLevel: AiSupportLevel.BOT,
      intents: [
        { aiAgentId: agentId, confidence: 0.8, confidenceColor: ConfidenceColor.SUCCESS, recipient: 'kim@example.org' },
      ],
    },
  });
  // An empty model cannot tell spam.
  expect(applied?.spamStatus).toBeUndefined();
  expect(applied?.intents?.autoExecuteAt).toBeDefined();
  await isIdle();
  // As after a replay of all events.
  await used.publish(id, TicketChangeType.TICKET_CREATED);
  await used.ask(id);
  await expect.poll(() => used.queued()).toBe(0);
  expect(used.appliedTo(id)).toHaveLength(1);
});

test.each([
  ['created in bulk', {}, ChangeCause.IMPORT],
  ['older than a day', { createdAt: toTimestamp(0) }, ChangeCause.REQUEST],
  // spec: 10.7
])('a ticket that is %s gets intents, of which the system executes none by itself', async (_, changes, cause) => {
  const { id } = used.ticket(changes);
  await used.publish(id, TicketChangeType.TICKET_CREATED, cause);
  await expect.poll(() => used.appliedTo(id)).toHaveLength(1);
  const [applied] = used.appliedTo(id);
  expect(applied?.intents?.intents).toHaveLength(1);
  expect(applied?.intents?.autoExecuteAt).toBeUndefined();
});

test.each([
  ['summaryAndText', RefreshMode.SUMMARY_AND_TEXT, { text: true, tagIds: [], intents: false }],
  ['tags', RefreshMode.TAGS, { text: false, tagIds: [5], intents: false }],
  ['agents', RefreshMode.AGENTS, { text: false, tagIds: [], intents: true }],
  ['full', RefreshMode.FULL, { text: true, tagIds: [5], intents: true }],
  // spec: 22.7, 22.10
  // guarantee: E8, I21
] as const)('refreshMode %s changes only its part, as a refresh', async (_, mode, parts) => {
  const { id } = used.ticket({ aiSupportLevel: AiSupportLevel.HUMAN });
  await used.ask(id, mode);
  await expect.poll(() => used.appliedTo(id)).toHaveLength(1);
  const { text, tagIds, intents, isRefresh } = used.appliedTo(id)[0] ?? {};
  expect({ text: text !== undefined, tagIds, intents: intents !== undefined }).toEqual(parts);
  expect(isRefresh).toBe(true);
});

test('a refresh of the customer, which the tickets service makes, reads and changes nothing here', async () => {
  const { id } = used.ticket();
  const { reads } = used.model;
  await used.ask(id, RefreshMode.CUSTOMER);
  await isIdle();
  expect([used.model.reads, used.appliedTo(id)]).toEqual([reads, []]);
});

test.each([
  ['spam', { isSpam: true }],
  ['analysed before', { aiSupportLevel: AiSupportLevel.HUMAN }],
  // spec: 5.6
])('a new ticket that is %s is left alone', async (_, changes) => {
  const { id } = used.ticket(changes);
  await used.publish(id, TicketChangeType.TICKET_CREATED);
  await used.ask(id);
  await isIdle();
  expect(used.appliedTo(id)).toEqual([]);
});

// spec: 5.6
// guarantee: I21
test('spam is left alone also by a refresh', async () => {
  const { id } = used.ticket({ isSpam: true, spamStatus: SpamStatus.MANUAL_SPAM });
  await used.ask(id, RefreshMode.FULL);
  await isIdle();
  expect(used.appliedTo(id)).toEqual([]);
});

// spec: 21.4
test('a ticket with process=false waits until its analysis is asked for', async () => {
  const { id } = used.ticket({ process: AiProcess.FALSE });
  const { reads } = used.model;
  await used.publish(id, TicketChangeType.TICKET_CREATED);
  await expect.poll(() => used.model.reads).toBe(reads + 1);
  await isIdle();
  expect(used.appliedTo(id)).toEqual([]);
  await used.ask(id);
  await expect.poll(() => used.appliedTo(id)).toHaveLength(1);
  expect(used.appliedTo(id)[0]?.isRefresh).toBe(false);
});

test.each([
  ['a closed ticket', { status: TicketStatus.CLOSED }],
  ['another text', { subject: 'Umzug', bodyClean: 'Guten Tag, ich ziehe im Mai um und melde mich deshalb ab.' }],
])('for %s nothing is proposed: a person has it', async (_, changes) => {
  const { id } = used.ticket(changes);
  await used.client.analyseTicket({ ticketId: id });
  expect(used.appliedTo(id)).toMatchObject([{ intents: { intents: [], aiSupportLevel: AiSupportLevel.HUMAN } }]);
});

test('AI agents propose by tag, channel, customer and confidence', async () => {
  const only = { channels: ['phone'], detection: { keywords: [], tagIds: [7] } };
  const byTag = await used.agent({ name: 'By tag', ...only });
  const needsCustomer = await used.agent({ name: 'Customer', ...only, customerNeeded: true });
  const isSure = { channels: ['phone'], detection: { keywords: ['Abschlag'], minConfidence: 0.81 } };
  await used.agent({ name: 'Sure', ...isSure });
  await used.agent({ name: 'Off', ...only, enabled: false });
  const proposed = async (changes: Partial<AnalysedStub>) => {
    const { id } = used.ticket({ channel: Channel.PHONE, tagIds: [7], ...changes });
    await used.client.analyseTicket({ ticketId: id });
    return used.appliedTo(id)[0]?.intents?.intents.map((one) => one.aiAgentId);
  };
  expect(await proposed({})).toEqual([agentId, byTag]);
  expect(await proposed({ customerId: 'C-1' })).toEqual([agentId, byTag, needsCustomer]);
  expect(await proposed({ channel: Channel.EMAIL })).toEqual([agentId]);
});

describe('an intent of an AI agent that replies', () => {
  const channel = Channel.CHAT;
  let replies: number;
  /** Ends the time for previews. */
  let late: AbortController;
  beforeEach(() => {
    late = new AbortController();
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) =>
      ms === previewMs ? late.signal : timeout.call(AbortSignal, ms),
    );
  });
  beforeAll(async () => {
    for (const id of [12, 13]) used.model.templateIds.add(id);
    const rules = { channels: ['chat'], detection: { tagIds: [7] }, options: [] };
    const parameters = { properties: { day: { type: 'string', default: 'Monday' } } };
    replies = await used.agent({ name: 'Answer', ...rules, parameters, executor: { type: 'reply', templateId: 12 } });
    await used.agent({ name: 'Answer more', ...rules, executor: { type: 'reply', templateId: 13 } });
  });
  const previews = async () => {
    const { id } = used.ticket({ channel, tagIds: [7], subject: '' });
    await used.client.analyseTicket({ ticketId: id });
    expect(used.appliedTo(id)).toHaveLength(1);
    const intents = used.appliedTo(id)[0]?.intents?.intents.filter(({ aiAgentId }) => aiAgentId >= replies) ?? [];
    return intents.map(({ messagePreview = null, data = null }) => [messagePreview, data]);
  };

  test('shows the message that the customer would get, rendered with its data', async () => {
    expect(await previews()).toEqual([
      ['<p>template 12 {"day":"Monday"}</p>', { day: 'Monday' }],
      ['<p>template 13 {}</p>', null],
    ]);
  });

  test('is proposed without it if that cannot be rendered, or not in time', async () => {
    const held = Promise.withResolvers<void>();
    const hasTemplate = (request: object) => 'templateId' in request && request.templateId === 13;
    const endTime = () => {
      late.abort(new DOMException('late', 'TimeoutError'));
      return held.promise;
    };
    for (const refuse of [() => Promise.reject(new ConnectError('no', Code.InvalidArgument)), endTime]) {
      used.model.before = (operation, _, request) =>
        operation === 'render' && hasTemplate(request) ? refuse() : undefined;
      expect(await previews()).toEqual([
        ['<p>template 12 {"day":"Monday"}</p>', { day: 'Monday' }],
        [null, null],
      ]);
    }
    held.resolve();
  });

  test('has its message also if that of another one before it cannot be rendered', async () => {
    used.model.before = (operation, _, request) => {
      const isFirst = operation === 'render' && 'templateId' in request && request.templateId === 12;
      if (isFirst) throw new ConnectError('no', Code.InvalidArgument);
    };
    expect(await previews()).toEqual([
      [null, { day: 'Monday' }],
      ['<p>template 13 {}</p>', null],
    ]);
  });

  test.each([
    [20_000, true],
    [20_001, false],
  ])('shows a message of %i characters: %s', async (length, isShown) => {
    used.model.rendered = (templateId) => 'x'.repeat(templateId === 12 ? length : 1);
    const [[first] = []] = await previews();
    expect(first === 'x'.repeat(length)).toBe(isShown);
    used.model.rendered = undefined;
  });
});

test('a request during an analysis is carried out afterwards, and the same request while it waits only once', async () => {
  const { id } = used.ticket({ aiSupportLevel: AiSupportLevel.HUMAN });
  const held = Promise.withResolvers<void>();
  used.model.before = (method, ticketId) => (method === 'apply' && ticketId === id ? held.promise : undefined);
  const { sent } = used.model;
  await used.ask(id, RefreshMode.TAGS);
  await expect.poll(() => used.model.sent).toBe(sent + 1);
  for (let count = 0; count < 3; count += 1) await used.ask(id, RefreshMode.TAGS);
  await used.ask(id, RefreshMode.AGENTS);
  held.resolve();
  await isIdle();
  const modes = used.appliedTo(id).map(({ tagIds, intents }) => [tagIds.length > 0, intents !== undefined]);
  expect(modes).toEqual([
    [true, false],
    [true, true],
  ]);
});

// guarantee: F31
test('while the tickets service is unavailable, analyses wait, and are made when it is back', async () => {
  const { id } = used.ticket();
  let failures = 0;
  used.model.before = () => {
    failures += 1;
    throw new ConnectError('unavailable', Code.Unavailable);
  };
  await used.ask(id);
  await expect.poll(() => failures).toBeGreaterThan(0);
  used.model.before = () => undefined;
  await isAppliedAgain(id);
});

// guarantee: F26
test('an analysis that always fails is given up visibly, the others go on, and a new request attempts it again', async () => {
  const bad = used.ticket().id;
  used.model.before = (_, ticketId) => {
    if (ticketId === bad) throw new ConnectError('no', Code.Internal);
  };
  await used.ask(bad);
  const analyses = used.database.collection('analyses');
  const attempt = async () => {
    await used.endPause(bad);
    return analyses.findOne({ _id: bad as never });
  };
  await expect.poll(attempt).toMatchObject({ nextAttemptAt: null, lastError: 'tickets: Internal' });
  const metrics = await (await fetch(`http://127.0.0.1:${used.running.ports.internal}/metrics`)).text();
  expect(metrics).toMatch(/^analyses_given_up(\{.*\})? 1$/m);
  expect(metrics).toMatch(/^analysis_attempts_total\{.*outcome="given_up".*\} 1$/m);
  const { id } = used.ticket();
  await used.client.analyseTicket({ ticketId: id });
  expect(used.appliedTo(id)).toHaveLength(1);
  // One more request is six more attempts, for all requested modes.
  const { reads } = used.model;
  await used.ask(bad, RefreshMode.TAGS);
  await expect.poll(attempt).toMatchObject({ nextAttemptAt: null });
  expect(used.model.reads - reads).toBe(6);
  used.model.before = () => undefined;
  await used.ask(bad);
  await expect.poll(() => used.appliedTo(bad)).toHaveLength(1);
  await isIdle();
  expect(used.appliedTo(bad)).toHaveLength(1);
});

test('many tickets are analysed together, and one whose read or result is refused does not keep the others', async () => {
  const ids = Array.from({ length: 60 }, () => used.ticket().id);
  const [unread = 0, refused = 0, gone = 0] = ids;
  used.model.before = (method, ticketId, _) => {
    if (method === 'read' && ticketId === unread) throw new ConnectError('no', Code.Internal);
    if (method === 'apply' && ticketId === refused) throw new ConnectError('no', Code.InvalidArgument);
    if (method === 'apply' && ticketId === gone) throw new ConnectError('no', Code.NotFound);
  };
  const { calls } = used.model;
  await used.client.requestAnalyses({ requests: ids.map((ticketId) => ({ ticketId })) });
  await expect.poll(used.queued).toBe(2);
  for (const id of ids.slice(3)) expect(used.appliedTo(id)).toHaveLength(1);
  // Each batch that contains the ticket which cannot be read is read one by one.
  expect(used.model.calls - calls).toBeLessThan(2 * ids.length);
  const analyses = used.database.collection('analyses');
  expect(await analyses.find({}, { sort: { _id: 1 } }).toArray()).toMatchObject([
    { _id: unread, lastError: 'tickets: Internal' },
    { _id: refused, lastError: 'tickets: InvalidArgument' },
  ]);
  used.model.before = () => undefined;
  await used.ask(unread);
  await used.ask(refused);
  await isIdle();
});

test('the call that waits fails at once when the attempt fails, and the analysis stays queued', async () => {
  const { id } = used.ticket();
  used.model.before = () => {
    throw new ConnectError('unavailable', Code.Unavailable);
  };
  await expect(used.client.analyseTicket({ ticketId: id })).rejects.toMatchObject({ code: Code.Unavailable });
  used.model.before = () => undefined;
  await isAppliedAgain(id);
});

test('a ticket that is deleted in the middle of its analysis leaves nothing behind', async () => {
  const { id } = used.ticket();
  const held = Promise.withResolvers<void>();
  used.model.before = (method, ticketId) => (method === 'apply' && ticketId === id ? held.promise : undefined);
  await used.ask(id);
  await expect.poll(() => used.intents.ofTicket(id)).toHaveLength(1);
  used.model.tickets.delete(id);
  await used.publish(id, TicketChangeType.TICKET_DELETED);
  await expect.poll(() => used.intents.ofTicket(id)).toHaveLength(0);
  held.resolve();
  await isIdle();
  expect(used.appliedTo(id)).toEqual([]);
});
