import { describe, expect, test } from 'vitest';
import { Ledger } from './ledger.ts';
import type { MessageKind, SentMessage } from './message-ledger.ts';
import {
  judgeMessages,
  type LeftMail,
  messageFindings,
  type ObservedMessages,
  type ShownMessage,
} from './message-verdict.ts';
import type { ReadMessage } from './verdict.ts';

const sent = (marker: string, kind: MessageKind, more: Partial<SentMessage> = {}): SentMessage => ({
  ...{ marker, kind, outcome: 'acknowledged', ticketId: 1, conversationId: undefined, files: 0 },
  ...more,
});
const shown = (id: number, marker: string, more: Partial<ShownMessage> = {}): ShownMessage => ({
  ...{ id, ticketId: 1, marker, direction: 'in', isDraft: false, deliveryStatus: 'none', externalId: undefined },
  files: 0,
  ...more,
});
const asMail = { direction: 'out', deliveryStatus: 'sent' };
const event = (version: number, conversationId: number, type = 'conversation.created'): ReadMessage => ({
  ...{ subject: 'ticket 1', version, isDeletion: false, agentId: undefined, status: undefined, isReopening: false },
  event: {
    ...{ id: `evt_1_${version}`, ticketId: 1, version, type, cause: 'request', subchannelId: undefined },
    conversationId,
  },
});

/** Sent: to ticket 1 an opening, a stored message, a reply, a note, two drafts; to ticket 2, deleted, a reply. */
function given() {
  const ledger = new Ledger();
  const messages = {
    opening: sent('opening', 'opening'),
    stored: sent('stored', 'stored', { files: 2 }),
    reply: sent('reply', 'reply'),
    note: sent('note', 'note', { conversationId: 14 }),
    draft: sent('draft', 'draft'),
    published: sent('published', 'draft', { publishing: 'acknowledged' }),
    deletedNote: sent('deletedNote', 'note', { conversationId: 17, deletion: 'acknowledged' }),
    ofDeleted: sent('ofDeleted', 'reply', { ticketId: 2 }),
    refused: sent('refused', 'reply', { outcome: 'refused' }),
    unknown: sent('unknown', 'reply', { outcome: 'unknown' }),
  };
  for (const message of Object.values(messages)) ledger.messages.add(message);
  ledger.deletionSent(2);
  const list = [
    shown(11, 'opening'),
    shown(12, 'stored', { files: 2 }),
    shown(13, 'reply', { ...asMail, externalId: '<13>' }),
    shown(14, 'note', { direction: 'internal' }),
    shown(15, 'draft', { direction: 'out', isDraft: true }),
    shown(16, 'published', { ...asMail, externalId: '<16>' }),
  ];
  const left: LeftMail[] = [
    { messageId: '<13>', marker: 'reply' },
    { messageId: '<13>', marker: 'reply' },
    { messageId: '<16>', marker: 'published' },
    { messageId: '<21>', marker: 'ofDeleted' },
  ];
  const events = [event(2, 12), event(3, 13), event(4, 14), event(5, 16, 'conversation.published'), event(6, 17)];
  const counts = new Map([[1, { in: 2, out: 2, internal: 1 }]]);
  return { ledger, messages, list, left, events, counts, countsOfRows: counts, openingIds: new Set([11]) };
}

type Given = ReturnType<typeof given>;

function judged(change: (state: Given) => Partial<Omit<Given, 'ledger'>> | undefined) {
  const state = given();
  const { ledger, list, ...observed } = { ...state, ...change(state) };
  return judgeMessages(ledger, { ...observed, shown: new Map([[1, list]]) } satisfies ObservedMessages);
}

const without = (list: readonly ShownMessage[], marker: string) => list.filter((one) => one.marker !== marker);
const changed = (list: readonly ShownMessage[], marker: string, more: Partial<ShownMessage>) =>
  list.map((one) => (one.marker === marker ? { ...one, ...more } : one));

test('finds nothing wrong if every acknowledged message is listed, counted, announced, and has left', () => {
  const verdict = judged(() => undefined);
  expect(messageFindings(verdict)).toEqual([]);
  expect(verdict).toMatchObject({ acknowledged: 10, listed: 6, sent: 2, sentAgain: 1 });
});

describe('lost is', () => {
  test.each(['opening', 'stored', 'reply', 'note', 'draft', 'published'])('a %s that is not listed', (marker) => {
    expect(judged(({ list }) => ({ list: without(list, marker) })).lost).toHaveLength(1);
  });

  test('a message of a ticket that is shown no more, although nobody deleted it', () => {
    const { lost } = judged(({ messages }) => {
      messages.ofDeleted.ticketId = 3;
      return undefined;
    });
    expect(lost).toEqual(['reply ofDeleted (acknowledged) of ticket 3 is not listed']);
  });

  test('a draft whose publishing was acknowledged, but not one of which that is unknown', () => {
    const asDraft = ({ list }: Given) => ({
      list: changed(list, 'published', { isDraft: true, deliveryStatus: 'none' }),
    });
    expect(judged(asDraft).lost).toHaveLength(1);
    const unknown = judged((state) => {
      state.messages.published.publishing = 'unknown';
      return asDraft(state);
    });
    expect(unknown.lost).toEqual([]);
  });
});

describe('unexpected is', () => {
  const added = (more: ShownMessage) => judged(({ list }) => ({ list: [...list, more] })).unexpected;

  test('a message that is listed twice, that was refused, that was deleted, or that nobody sent', () => {
    expect(added(shown(19, 'reply'))).toEqual(['reply reply (acknowledged) is listed 2 times']);
    expect(added(shown(19, 'refused'))).toEqual(['reply refused (refused) is listed']);
    expect(added(shown(17, 'deletedNote'))).toHaveLength(1);
    expect(added(shown(19, 'else'))).toHaveLength(1);
    expect(added(shown(19, 'unknown'))).toEqual([]);
  });

  test('a message with another id, or with other files', () => {
    const differing = (more: Partial<ShownMessage>) =>
      judged(({ list }) => ({ list: changed(list, 'note', more) })).unexpected;
    expect(differing({ id: 20 })).toHaveLength(1);
    expect(differing({ files: 1 })).toHaveLength(1);
  });

  test('a draft that is published although nobody asked for it', () => {
    const published = ({ list }: Given) => ({ list: changed(list, 'draft', { isDraft: false }) });
    expect(judged(published).unexpected).toHaveLength(1);
    const asked = judged((state) => {
      state.messages.draft.publishing = 'unknown';
      return published(state);
    });
    expect(asked.unexpected).toEqual([]);
  });
});

describe('a wrong mail is', () => {
  const withLeft = (change: (left: LeftMail[]) => LeftMail[]) =>
    judged(({ left }) => ({ left: change(left) })).wrongMails;

  test('one that has not left, whatever its status says', () => {
    expect(withLeft((left) => left.filter(({ marker }) => marker !== 'published'))).toHaveLength(1);
    for (const deliveryStatus of ['queued', 'failed']) {
      const { wrongMails } = judged(({ list }) => ({ list: changed(list, 'reply', { deliveryStatus }) }));
      expect(wrongMails).toEqual([`message 13 of ticket 1 (reply) is ${deliveryStatus}`]);
    }
  });

  test('none at all: then the run shows nothing about mails', () => {
    const { wrongMails } = judged(() => ({ list: [], left: [] }));
    expect(wrongMails).toEqual(['no message was sent as a mail']);
  });

  test.each([
    ['left with two ids', { messageId: '<22>', marker: 'reply' }],
    ['is a note', { messageId: '<22>', marker: 'note' }],
    ['is a draft', { messageId: '<22>', marker: 'draft' }],
    ['was stored, not sent', { messageId: '<22>', marker: 'stored' }],
    ['is no part of its ticket', { messageId: '<22>', marker: 'unknown' }],
    ['was sent by nobody', { messageId: '<22>', marker: undefined }],
    ['has a marker that nobody sent', { messageId: '<22>', marker: 'else' }],
  ])('one that %s', (_, mail) => {
    expect(withLeft((left) => [...left, mail])).toHaveLength(1);
  });
});

test('counts of tickets and rows must be those of the messages that are listed', () => {
  const counts = new Map([[1, { in: 2, out: 3, internal: 1 }]]);
  expect(judged(() => ({ counts })).countsThatDiffer).toEqual([
    'the ticket 1 counts 2 in, 3 out, 1 internal, but lists 2 in, 2 out, 1 internal',
  ]);
  expect(judged(() => ({ countsOfRows: counts })).countsThatDiffer).toHaveLength(1);
  expect(judged(() => ({ countsOfRows: new Map() })).countsThatDiffer).toHaveLength(1);
});

describe('events', () => {
  test('a message must have exactly one, in one version', () => {
    expect(judged(({ events }) => ({ events: events.slice(1) })).wrongEvents).toEqual([
      'message 12 of ticket 1 (stored) has 0 events',
    ]);
    expect(judged(({ events }) => ({ events: [...events, event(3, 13)] })).wrongEvents).toEqual([]);
    expect(judged(({ events }) => ({ events: [...events, event(9, 13)] })).wrongEvents).toHaveLength(1);
  });

  test('an event must have its message, unless that was deleted', () => {
    const { wrongEvents } = judged(({ events }) => ({ events: [...events, event(9, 15), event(10, 99)] }));
    expect(wrongEvents).toEqual([
      'an event announces message 15 of ticket 1, which is not listed',
      'an event announces message 99 of ticket 1, which is not listed',
    ]);
  });
});
