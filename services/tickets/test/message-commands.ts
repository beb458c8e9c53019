import { formatDateTime } from '@ticketing/rest/codec/date-time.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { TicketsHarness } from './harness.ts';
import type { NaiveMessage, NaiveTicket } from './naive-messages.ts';

/** The sender of replies, and the customer. */
export const desk = 'desk@example.org';
export const kim = 'kim@example.com';
/** When the tickets were created. Units: Unix seconds. */
export const startedAt = Math.floor(Date.now() / 1000) - 1_000;

/** A ticket, and its expected state. */
export interface Model {
  id: number;
  ticket: NaiveTicket;
  /** The ids of all messages that there have been. */
  ids: number[];
  /** The part of the external ids that is different in each run. */
  run: number;
}
type Real = TicketsHarness;
type Command = fc.AsyncCommand<Model, Real>;

/** Messages that are stored and mails share their ids. */
const externalIdOf = ({ run }: Model, index: number) => `<${run}-${index}@example.com>`;
const pathOf = ({ id }: Model, rest: string | number) => `/ticket/${id}/conversation/${rest}`;
const textOf = (text: string) => ({ message: text, type: 'text' });
const findFiles = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${index}.txt`, base64: 'ZmlsZQ==' }));
const notSent = { deliveryStatus: 'none', notSentReason: null };

function command(
  name: string,
  check: (model: Model) => boolean,
  act: (model: Model, real: Real) => Promise<void>,
): Command {
  return { check, run: act, toString: () => name };
}

const always = () => true;

/** A reply, a note or a draft of a person. */
function reply(kind: 'reply' | 'note' | 'draft', to: string[], files: number, agentId: number): Command {
  return command(`${kind} to [${to}] with ${files} files by ${agentId}`, always, async (model, real) => {
    const { ticket } = model;
    const recipients = kind === 'note' ? {} : { to };
    const flags = { isDraft: kind === 'draft', private: kind === 'note' };
    const body = { content: textOf(kind), attachments: findFiles(files), ...recipients, ...flags };
    const response = await real.request('POST', pathOf(model, 'reply'), { body, caller: { profileId: agentId } });
    const got = to.length > 0 ? { to, cc: [] } : ticket.replyRecipients;
    expect(response.status).toBe(201);
    const { id, createdAt } = response.json.conversation;
    expect(model.ids).not.toContain(id);
    model.ids.push(id);
    const message: NaiveMessage = {
      ...{ id, createdAt, body: kind, private: kind === 'note', isDraft: kind === 'draft', files, agentId },
      ...(kind === 'note'
        ? { direction: 'internal', from: null, to: [], cc: [] }
        : { direction: 'out', from: desk, ...got }),
      ...(kind === 'reply' ? ticket.sending([...got.to, ...got.cc], to.length > 0) : notSent),
      isFinal: kind === 'reply',
      isNamed: kind !== 'note' && to.length > 0,
    };
    if (kind === 'draft') ticket.addDraft(message);
    else ticket.announce(message, 'conversation.created');
  });
}

interface Stored {
  direction: string;
  isPrivate: boolean;
  externalId: number | undefined;
  /** Units: seconds after the ticket was created. */
  at: number | undefined;
  files: number;
}

/** Stores a message. One with a known external id is the message that has it. */
export function store({ direction, isPrivate, externalId: index, at, files }: Stored): Command {
  const name = `store ${direction}${isPrivate ? ', private' : ''}, id ${index}, at ${at}, ${files} files`;
  return command(name, always, async (model, real) => {
    const { ticket } = model;
    const externalId = index === undefined ? undefined : externalIdOf(model, index);
    const body = {
      ...{ content: textOf('stored'), direction, private: isPrivate, from: kim, attachments: findFiles(files) },
      ...(externalId === undefined ? {} : { externalConversationId: externalId }),
      ...(at === undefined ? {} : { createdAt: formatDateTime(startedAt + at) }),
    };
    const { status, json } = await real.request('POST', pathOf(model, 'store'), { body });
    const known = externalId === undefined ? undefined : ticket.externalIds.get(externalId);
    const isRefused = isPrivate && direction !== 'internal';
    expect(status).toBe(isRefused ? 400 : 201);
    if (isRefused) return;
    if (known !== undefined) return expect(json.conversationId).toBe(known);
    const { id, createdAt } = json.conversation;
    if (at !== undefined) expect(createdAt).toBe(formatDateTime(startedAt + at));
    expect(model.ids).not.toContain(id);
    model.ids.push(id);
    if (externalId !== undefined) ticket.externalIds.set(externalId, id);
    ticket.announce(
      {
        ...{
          id,
          createdAt,
          direction,
          body: 'stored',
          private: isPrivate,
          isDraft: false,
          from: kim,
          to: [],
          cc: [],
          files,
        },
        ...{ agentId: direction === 'in' ? null : 7, ...notSent, isFinal: !isPrivate },
      },
      'conversation.created',
    );
  });
}

/** An answer of the customer by mail, to the mail by which the ticket was created. */
function incoming(index: number, isProgrammatic: boolean): Command {
  return command(`mail ${index}${isProgrammatic ? ' of a program' : ''}`, always, async (model, real) => {
    const { ticket } = model;
    const messageId = externalIdOf(model, index);
    const known = ticket.externalIds.get(messageId);
    const [answered] = ticket.externalIds.keys();
    const lines = [
      ...[`From: ${kim}`, `To: ${desk}`, 'Cc: lee@example.com', `Message-ID: ${messageId}`, `In-Reply-To: ${answered}`],
      // Without a date, all bytes of a mail would tell it from another.
      'Date: Tue, 03 Mar 2026 09:15:00 +0100',
      ...(isProgrammatic ? ['Auto-Submitted: auto-replied'] : []),
      ...['', 'mail'],
    ];
    const received = await receiveMail(real, lines.join('\r\n'));
    expect(received.ticketId).toBe(model.id);
    if (known !== undefined) return expect(received.conversationId).toBe(known);
    const { json } = await real.request('GET', pathOf(model, received.conversationId));
    const { id, createdAt } = json;
    expect(model.ids).not.toContain(id);
    model.ids.push(id);
    ticket.externalIds.set(messageId, id);
    ticket.announce(
      {
        ...{ id, createdAt, direction: 'in', body: 'mail', private: false, isDraft: false, files: 0, agentId: null },
        ...{ from: kim, to: [desk], cc: ['lee@example.com'], ...notSent, isFinal: true, isProgrammatic, isMail: true },
      },
      'conversation.created',
    );
  });
}

async function receiveMail(real: Real, mail: string): Promise<{ ticketId: number; conversationId: number }> {
  const token = await real.identity.internalToken('tickets', testCaller({ roleId: 1 }));
  const response = await fetch(`${real.url}/ticketing.tickets.v1.MailService/ReceiveMail`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ mail: Buffer.from(mail).toString('base64') }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { ticketId: number; conversationId: number };
}

interface Change {
  text?: string;
  to?: string[];
  files?: number;
  isDraft?: boolean;
}

/** The status of the response to a change, as docs/reference/api.md says. */
function expectedStatus(message: NaiveMessage | undefined, change: Change, caller: number): number {
  if (!message) return 404;
  const { isDraft: draft, ...others } = change;
  if (message.isDraft) return 200;
  if (draft === true) return 409;
  if (Object.keys(others).length === 0) return 200;
  if (message.isFinal) return 409;
  if (message.agentId !== caller) return 403;
  return others.to === undefined && others.files === undefined ? 200 : 400;
}

function patch(index: number, change: Change, agentId: number): Command {
  const name = `patch ${index} ${JSON.stringify(change)} by ${agentId}`;
  return command(
    name,
    ({ ids }) => ids.length > 0,
    async (model, real) => {
      const { ticket, ids } = model;
      const id = ids[index % ids.length] ?? 0;
      const message = ticket.messages.get(id);
      const { text, to, files, isDraft } = change;
      const body = {
        ...(text === undefined ? {} : { content: textOf(text) }),
        ...(to === undefined ? {} : { to }),
        ...(files === undefined ? {} : { attachments: findFiles(files) }),
        ...(isDraft === undefined ? {} : { isDraft }),
      };
      const response = await real.request('PATCH', pathOf(model, id), { body, caller: { profileId: agentId } });
      expect(response.status).toBe(expectedStatus(message, change, agentId));
      if (response.status !== 200 || !message || message.isFinal) return;
      Object.assign(message, {
        ...(text === undefined ? {} : { body: text }),
        ...(to === undefined ? {} : { to, isNamed: isNamedAfter(message, to) }),
        ...(files === undefined ? {} : { files }),
      });
      if (!message.isDraft || isDraft !== false) return;
      const { json } = await real.request('GET', pathOf(model, id));
      if (message.to.length + message.cc.length === 0) Object.assign(message, ticket.replyRecipients);
      const sending = ticket.sending([...message.to, ...message.cc], message.isNamed ?? false);
      const sent = { isDraft: false, isFinal: true, publishedBy: agentId, ...sending };
      ticket.announce(Object.assign(message, sent, { createdAt: json.createdAt }), 'conversation.published');
    },
  );
}

/** Whether the recipients of a draft are named after a change of them. */
function isNamedAfter({ isNamed = false, cc }: NaiveMessage, to: readonly string[]): boolean {
  return (isNamed || to.length > 0) && to.length + cc.length > 0;
}

function remove(index: number, agentId: number): Command {
  return command(
    `delete ${index} by ${agentId}`,
    ({ ids }) => ids.length > 0,
    async (model, real) => {
      const { ticket, ids } = model;
      const id = ids[index % ids.length] ?? 0;
      const message = ticket.messages.get(id);
      const { status } = await real.request('DELETE', pathOf(model, id), { caller: { profileId: agentId } });
      const isRefused = message && !message.isDraft && message.agentId !== agentId;
      expect(status).toBe(message ? (message.isFinal ? 409 : isRefused ? 403 : 200) : 404);
      if (status === 200) ticket.remove(id);
    },
  );
}

function setStatus(status: string): Command {
  return command(`status ${status}`, always, async ({ id, ticket }, real) => {
    expect((await real.request('PATCH', `/ticket/${id}`, { body: { status } })).status).toBe(200);
    ticket.setStatus(status);
  });
}

const to = fc.constantFrom<string[]>([], ['lee@example.com'], ['lee@example.com', 'max@example.com']);
const files = fc.nat(2);
const agentId = fc.constantFrom(7, 8);
const index = fc.nat(8);
const stored = fc.record({
  direction: fc.constantFrom('in', 'out', 'internal'),
  isPrivate: fc.boolean(),
  externalId: fc.option(fc.nat(3), { nil: undefined }),
  at: fc.option(fc.constantFrom(-100, 0, 100, 200), { nil: undefined }),
  files,
});
const change = fc
  .record({ text: fc.constantFrom('a', 'b'), to, files, isDraft: fc.boolean() }, { requiredKeys: [] })
  .filter((given) => Object.keys(given).length > 0);
/** Any sequence of requests about the messages of a ticket. */
export const messageCommands = fc.commands(
  [
    fc
      .tuple(fc.constantFrom('reply' as const, 'note' as const, 'draft' as const, 'draft' as const), to, files, agentId)
      .map((given) => reply(...given)),
    stored.map(store),
    fc.tuple(fc.nat(3), fc.boolean()).map((given) => incoming(...given)),
    fc.tuple(index, change, agentId).map((given) => patch(...given)),
    fc.tuple(index, fc.constant({ isDraft: false }), agentId).map((given) => patch(...given)),
    fc.tuple(index, agentId).map((given) => remove(...given)),
    fc.constantFrom('pending', 'closed').map(setStatus),
  ],
  { maxCommands: 20 },
);
