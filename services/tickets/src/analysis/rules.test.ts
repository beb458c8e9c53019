import {
  AiSupportLevel,
  Channel,
  SpamStatus,
  TicketStatus,
} from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { ConfidenceColor, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { describe, expect, test } from 'vitest';
import { tagState } from '../../test/tag-state.ts';
import { tagTree } from '../tag/rules.ts';
import { newTicket } from '../ticket/rules/change.ts';
import type { TicketInput } from '../ticket/rules/fields.ts';
import type { IntentState } from '../ticket/rules/intent.ts';
import { noSla, type SlaRules } from '../ticket/rules/sla.ts';
import { type Analysis, decideAnalysis } from './rules.ts';

const now = 1_800_000_000;
const createdAt = now - 60;
const header = { eventId: 'evt_1', actor: { profileId: null, kind: 'system' } };
const creator = { profileId: 21, isHuman: true };
const tree = tagTree([tagState(1), tagState(2), tagState(3)]);
const sla: SlaRules = { ...noSla, findTag: tree.get };
const intent: IntentState = {
  id: 7,
  aiAgentId: 4,
  code: 'meter-reading',
  name: 'Enter the meter reading',
  contractId: 'V-1',
  confidence: 0.9,
  confidenceColor: ConfidenceColor.SUCCESS,
  verified: false,
  status: TicketIntentStatus.READY,
  messagePreview: null,
  recipient: null,
  data: '{"reading":5}',
  options: [],
  infos: [],
  outcome: null,
};
const proposal = { intents: [intent], aiSupportLevel: AiSupportLevel.BOT, autoExecuteAt: now + 60 };
const text = { sentiment: 'negative', language: 'German', languageCode: 'de', summary: 'A meter reading.' };

function ticketWith(input: TicketInput = {}) {
  const created = { id: 5, now: createdAt, creator, lastAgentRouting: false, sla: noSla };
  return newTicket({ channel: Channel.EMAIL, ...input }, created);
}

function decide(analysis: Partial<Analysis>, input: TicketInput = {}, spamTagId: number | null = null) {
  const whole = {
    ticketVersion: 1,
    isRefresh: false,
    text: undefined,
    tagIds: [],
    spamStatus: undefined,
    intents: undefined,
  };
  return decideAnalysis(ticketWith(input), { ...whole, ...analysis }, { now, sla, header, spamTagId }).change;
}

describe('an analysis', () => {
  test('is one change with its cause', () => {
    const change = decide({ text, tagIds: [2], spamStatus: SpamStatus.AUTO_CLEAN, intents: proposal });
    expect(change?.after).toMatchObject({
      ...text,
      tagIds: [2],
      spamStatus: SpamStatus.AUTO_CLEAN,
      intents: [intent],
      aiAgentIds: [4],
      aiSupportLevel: AiSupportLevel.BOT,
      autoExecuteAt: now + 60,
      version: 2,
    });
    expect(change?.event).toMatchObject({ type: 'ticket.updated', cause: 'analysis', version: 2 });
  });

  // guarantee: E8
  test('that was asked for again has the cause refresh', () => {
    expect(decide({ text, isRefresh: true })?.event.cause).toBe('refresh');
  });

  test('that finds nothing new changes nothing', () => {
    expect(decide({})).toBeUndefined();
    const before = { ...text, tagIds: [2], intents: [intent], aiAgentIds: [4] };
    const state = { aiSupportLevel: AiSupportLevel.BOT, autoExecuteAt: now + 60 };
    const again = { ...proposal, intents: [{ ...intent }] };
    expect(decide({ text, tagIds: [2], intents: again }, { ...before, ...state })).toBeUndefined();
  });

  test('leaves the parts that it was not made of', () => {
    const change = decide({ tagIds: [1] }, { ...text, intents: [intent], aiAgentIds: [4] });
    expect(change?.changed).toEqual(['tagIds']);
  });

  test('adds tags, and removes none; a tag that does not exist is left out', () => {
    expect(decide({ tagIds: [3, 1, 99, 3] }, { tagIds: [1, 2] })?.after.tagIds).toEqual([1, 2, 3]);
  });

  test('that adds a tag makes deadlines only shorter, as any change of tags does', () => {
    const hour = 3600;
    const dueAfter = (seconds: number) => {
      const urgent = tagTree([tagState(1, null, { sla: hour })]);
      const rules = { now, sla: { ...noSla, findTag: urgent.get }, header, spamTagId: null };
      const found = { ticketVersion: 1, isRefresh: false, text: undefined, tagIds: [1], spamStatus: undefined };
      const { change } = decideAnalysis(
        ticketWith({ dueBy: createdAt + seconds }),
        { ...found, intents: undefined },
        rules,
      );
      return (change?.after.dueBy ?? 0) - createdAt;
    };
    expect([dueAfter(hour + 1), dueAfter(hour - 1)]).toEqual([hour, hour - 1]);
  });

  test('replaces a summary only if it was asked for again', () => {
    expect(decide({ text }, { summary: 'by hand' })?.after.summary).toBe('by hand');
    expect(decide({ text, isRefresh: true }, { summary: 'by hand' })?.after.summary).toBe(text.summary);
    const nothing = { ...text, summary: null };
    expect(decide({ text: nothing, isRefresh: true }, { summary: 'by hand' })?.after.summary).toBe('by hand');
  });
});

describe('the execution by the system', () => {
  test.each([
    [2, 1, null],
    [2, 2, now + 60],
    [0, 1, now + 60],
  ])(
    'after an intervention in version %d, an analysis of version %d has it at %s',
    (interventionVersion, ticketVersion, at) => {
      const change = decide({ intents: proposal, ticketVersion }, { interventionVersion });
      expect([change?.after.autoExecuteAt, change?.after.intents]).toEqual([at, [intent]]);
    },
  );

  test('is not scheduled on a ticket that was closed meanwhile', () => {
    expect(decide({ intents: proposal }, { status: TicketStatus.CLOSED })?.after.autoExecuteAt).toBeNull();
  });
});

describe('the spam status', () => {
  const { AUTO_SPAM, AUTO_CLEAN, AUTO_PROGRAMMATIC, MANUAL_SPAM, MANUAL_CLEAN } = SpamStatus;
  test.each([
    [null, AUTO_SPAM, AUTO_SPAM],
    [AUTO_CLEAN, AUTO_SPAM, AUTO_SPAM],
    [AUTO_SPAM, AUTO_CLEAN, AUTO_CLEAN],
    [AUTO_SPAM, undefined, AUTO_SPAM],
    [AUTO_PROGRAMMATIC, AUTO_CLEAN, AUTO_PROGRAMMATIC],
    [MANUAL_SPAM, AUTO_CLEAN, MANUAL_SPAM],
    [MANUAL_CLEAN, AUTO_SPAM, MANUAL_CLEAN],
    // spec: 5.1, 5.4, 17.13
  ])('%s, detected %s, is then %s', (before, detected, after) => {
    const change = decide({ spamStatus: detected, text }, before === null ? {} : { spamStatus: before });
    expect(change?.after.spamStatus).toBe(after);
  });

  test.each([
    ['the classifier', { spamStatus: AUTO_SPAM }, {}, null],
    ['a header', {}, { spamStatus: AUTO_PROGRAMMATIC }, null],
    ['a person', { spamStatus: AUTO_CLEAN }, { spamStatus: MANUAL_SPAM }, null],
    ['a tag', {}, { tagIds: [2] }, 2],
    ['a tag that was detected', { tagIds: [2] }, {}, 2],
    // spec: 5.7
  ])('set by %s keeps all proposals away', (_, analysis, before, spamTagId) => {
    const input = { ...before, intents: [intent], aiAgentIds: [4], autoExecuteAt: now };
    const after = decide({ ...analysis, intents: proposal }, input, spamTagId)?.after;
    const level = AiSupportLevel.UNPROCESSED;
    expect(after).toMatchObject({ intents: [], aiAgentIds: [], autoExecuteAt: null, aiSupportLevel: level });
  });

  test.each([TicketIntentStatus.EXECUTED, TicketIntentStatus.READY])(
    'keeps what was executed, read as %i',
    (status) => {
      const executed = {
        ...intent,
        id: 3,
        aiAgentId: 9,
        status: TicketIntentStatus.EXECUTED,
        outcome: '{"success":true}',
      };
      const intents = { ...proposal, intents: [{ ...executed, status }, intent] };
      const input = { intents: [executed], aiAgentIds: [9], spamStatus: AUTO_CLEAN };
      const after = decide({ spamStatus: AUTO_SPAM, intents }, input)?.after;
      expect(after).toMatchObject({ intents: [executed], aiAgentIds: [9], autoExecuteAt: null });
    },
  );
});
