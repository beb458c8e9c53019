import { formatDateTime } from '@ticketing/rest/codec/date-time.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { splitWords } from '@ticketing/text/words.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { desk, kim, type Model, messageCommands, startedAt, store } from '../../test/message-commands.ts';
import { type NaiveMessage, NaiveTicket } from '../../test/naive-messages.ts';
import { defaultSettings } from '../settings.ts';

let tickets: TicketsHarness;
let runsBefore = 0;

beforeAll(async () => {
  tickets = await startHarness({ settings: async () => ({ ...defaultSettings, mailFrom: desk }) });
});
afterAll(() => tickets.stop());

/** Creates a ticket with a first message and a stored one, whose external id mails answer. */
async function newModel(channel: string, status: string): Promise<Model> {
  const createdAt = formatDateTime(startedAt);
  const body = { channel, status, from: kim, cc: ['lee@example.com'], body: 'opening', createdAt };
  const { id } = (await tickets.request('POST', '/ticket', { body })).json;
  const [opening] = (await tickets.request('GET', `/ticket/${id}/conversation`)).json.conversations;
  const ticket = new NaiveTicket(channel, status, {
    ...{ id: opening.id, direction: 'in', private: false, isDraft: false, body: 'opening', from: kim, to: [] },
    ...{ cc: ['lee@example.com'], files: 0, agentId: null, createdAt, isFinal: true },
    ...{ deliveryStatus: 'none', notSentReason: null },
  });
  const model = { id, ticket, ids: [opening.id], run: runsBefore++ };
  await store({ direction: 'in', isPrivate: false, externalId: 0, at: 0, files: 0 }).run(model, tickets);
  return model;
}

/** Compares the ticket, its messages and its events with the model. */
async function requireSame({ id, ticket }: Model): Promise<void> {
  const { json } = await tickets.request('GET', `/ticket/${id}`);
  const { lastResponseAuthor, replyRecipients, ...shown } = json;
  const { status, version, lastMessageAt, lastCustomerMessageAt } = ticket;
  expect(shown).toMatchObject({ status, version, lastMessageAt, lastCustomerMessageAt });
  expect(lastResponseAuthor?.id ?? null).toBe(ticket.lastResponseAuthor);
  expect(replyRecipients).toEqual({ ...ticket.replyRecipients, bcc: [] });
  const { conversations, total } = (await tickets.request('GET', `/ticket/${id}/conversation?limit=1000`)).json;
  const { list } = ticket;
  expect(total).toBe(list.length);
  const listed = conversations.map(({ attachments, ...one }: { attachments: object[] } & Record<string, unknown>) => ({
    ...one,
    files: attachments.length,
  }));
  const expected = list.map(({ isFinal, isProgrammatic, isMail, isNamed, ...message }) => message);
  expect(listed).toMatchObject(expected);
  const document = await tickets.documentOf(id);
  expect({ messages: new Set(document.messageWords), notes: new Set(document.noteWords) }).toEqual(
    expectedWords(conversations.slice(1)),
  );
  expect({
    in: document.incomingMessages,
    out: document.outgoingMessages,
    internal: document.internalMessages,
  }).toEqual({ in: ticket.count('in'), out: ticket.count('out'), internal: ticket.count('internal') });
  const events = document.outbox.map(({ version: of, type, conversationId }: Record<string, unknown>) => ({
    version: of,
    type,
    conversationId,
  }));
  expect(events).toEqual(
    ticket.events.map(({ type, conversationId }, index) => ({ version: index + 1, type, conversationId })),
  );
  await requireNothingElse(id, list);
}

interface ShownMessage {
  private: boolean;
  isDraft: boolean;
  direction: string;
  from?: string;
  fromName?: string;
  to: string[];
  cc: string[];
  bcc?: string[];
  subject?: string;
  bodyPlain?: string;
}

/** The search words of messages, as docs/reference/api.md, Full text, says. */
function expectedWords(shown: readonly ShownMessage[]): Record<'messages' | 'notes', Set<string>> {
  const words = { messages: new Set<string>(), notes: new Set<string>() };
  for (const { direction, from, fromName, to, cc, bcc = [], subject, bodyPlain, ...message } of shown) {
    if (message.isDraft) continue;
    const people = { in: [from, fromName], out: [...to, ...cc, ...bcc] }[direction] ?? [];
    const texts = [subject, bodyPlain, ...people].map((text) => text ?? null);
    for (const word of splitWords(texts)) words[message.private ? 'notes' : 'messages'].add(word);
  }
  return words;
}

/** Checks that nothing is stored but the messages and the files that are listed, and external ids of theirs. */
async function requireNothingElse(ticketId: number, list: readonly NaiveMessage[]): Promise<void> {
  const stored = (name: string, field = 'ticketId') =>
    tickets.database
      .collection(name)
      .find({ [field]: ticketId })
      .toArray();
  const [, ...others] = list.map(({ id }) => id);
  const ids = (found: object[]) =>
    found.map((one) => Number((one as { _id: unknown })._id)).sort((left, right) => left - right);
  expect(ids(await stored('conversations'))).toEqual(others.sort((left, right) => left - right));
  for (const { conversationId } of await stored('externalMessageIds')) expect(others).toContain(conversationId);
  const listed = (await stored('fileRecords', 'ownerId')).filter(({ part }) => part === undefined);
  expect(listed).toHaveLength(list.reduce((sum, { files }) => sum + files, 0));
}

// guarantee: M1
test('after any sequence of requests, messages and their ticket are as a simple model predicts', {
  timeout: 280_000,
}, async () => {
  const channels = fc.constantFrom('email', 'email', 'chat');
  await fc.assert(
    fc.asyncProperty(channels, fc.constantFrom('open', 'closed'), messageCommands, async (channel, status, given) => {
      const model = await newModel(channel, status);
      await fc.asyncModelRun(() => ({ model, real: tickets }), given);
      await requireSame(model);
    }),
    { numRuns: runs(10, 250), endOnFailure: true },
  );
});
