import { create } from '@bufbuild/protobuf';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { UpdateConversationRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { defaultSettings } from '../settings.ts';
import type { KnownSubchannel } from '../ticket/rules/subchannels.ts';

let tickets: TicketsHarness;
const subchannels = new Map<number, KnownSubchannel>([
  [1, { enabled: true, interface: 'imap', channel: 1, name: 'Support', address: 'support@example.org' }],
  [2, { enabled: false, interface: 'imap', channel: 1, name: 'Old', address: 'old@example.org' }],
  [3, { enabled: true, interface: 'web', channel: 6, name: 'Chat' }],
]);

beforeAll(async () => {
  tickets = await startHarness({
    settings: async () => ({ ...defaultSettings, subchannels, mailFrom: 'desk@example.org' }),
  });
});
afterAll(() => tickets.stop());

/** The caller of the tests. */
const agentId = 7;
const mail = { channel: 'email', from: 'kim@example.com', fromName: 'Kim', subject: 'Meter', cc: ['boss@example.com'] };
const post = async (body: object = {}) =>
  (await tickets.request('POST', '/ticket', { body: { ...mail, body: 'The meter is broken.', ...body } })).json;
const path = (ticketId: number, rest: string | number = '') =>
  `/ticket/${ticketId}/conversation${rest === '' ? '' : `/${rest}`}`;
const content = (message: string, type = 'text') => ({ message, type });
const reply = (id: number, body: object = {}, options = {}) =>
  tickets.request('POST', path(id, 'reply'), { body: { content: content('We send someone.'), ...body }, ...options });
const store = (id: number, body: object = {}) =>
  tickets.request('POST', path(id, 'store'), { body: { content: content('Thank you.'), direction: 'in', ...body } });
const patch = (id: number, conversationId: number, body: object, options = {}) =>
  tickets.request('PATCH', path(id, conversationId), { body, ...options });
const list = async (id: number, query = '') => (await tickets.request('GET', `${path(id)}${query}`)).json;
const read = async (id: number) => (await tickets.request('GET', `/ticket/${id}`)).json;
const lastEvent = async (id: number) => (await tickets.documentOf(id)).outbox.at(-1);

// spec: 2.2, 16.5
test('the body at the creation is the first message', async () => {
  const ticket = await post();
  const { conversations, ...page } = await list(ticket.id);
  expect(page).toEqual({ success: true, total: 1, offset: 0, limit: 100 });
  expect(conversations).toEqual([
    {
      id: expect.any(Number),
      ticketId: ticket.id,
      type: 'text',
      direction: 'in',
      private: false,
      isDraft: false,
      from: 'kim@example.com',
      fromName: 'Kim',
      to: [],
      cc: ['boss@example.com'],
      bcc: [],
      subject: 'Meter',
      body: 'The meter is broken.',
      bodyPlain: 'The meter is broken.',
      bodyClean: 'The meter is broken.',
      agentId: null,
      sender: { id: null, name: 'Kim', email: 'kim@example.com' },
      intentIds: [],
      attachments: [],
      subchannelId: null,
      externalConversationId: null,
      deliveryStatus: 'none',
      notSentReason: null,
      deliveryError: null,
      createdAt: ticket.createdAt,
      modifiedAt: ticket.createdAt,
      modifiedBy: null,
      publishedBy: null,
    },
  ]);
  const [{ id }] = conversations;
  expect((await tickets.request('GET', path(ticket.id, id))).json).toEqual(conversations[0]);
  expect((await list((await post({ body: undefined })).id)).total).toBe(0);
});

// spec: 6.11, 6.64
test('a reply on an e-mail ticket is queued, and changes the ticket by one event', async () => {
  const ticket = await post({ subchannelId: 1 });
  const { status, json } = await reply(ticket.id, { content: content('<p>We send someone.</p>', 'html') });
  expect(status).toBe(201);
  expect(json).toMatchObject({ success: true, id: json.conversation.id });
  expect(json.conversation).toMatchObject({
    type: 'html',
    direction: 'out',
    from: 'support@example.org',
    fromName: 'Support',
    to: ['kim@example.com'],
    cc: ['boss@example.com'],
    subject: 'Re: Meter',
    body: '<p>We send someone.</p>',
    bodyPlain: 'We send someone.',
    agentId: agentId,
    subchannelId: 1,
    externalConversationId: expect.stringMatching(/^<msg_.*@example\.org>$/),
    deliveryStatus: 'queued',
  });
  const after = await read(ticket.id);
  expect(after).toMatchObject({
    version: 2,
    status: 'open',
    lastResponseAuthor: { id: agentId },
    lastCustomerMessageAt: ticket.lastCustomerMessageAt,
    replyRecipients: { to: ['kim@example.com'], cc: ['boss@example.com'], bcc: [] },
  });
  const event = await lastEvent(ticket.id);
  expect(event).toMatchObject({ type: 'conversation.created', version: 2, conversationId: json.id, cause: 'request' });
  expect(event.changes.map(({ field }: { field: string }) => field)).toContain('lastResponseAuthor');
  expect((await list(ticket.id)).conversations.map(({ id }: { id: number }) => id)).toContain(json.id);
});

test('recipients that are given replace the recommended ones', async () => {
  const { id } = await post();
  const only = await reply(id, { to: ['else@example.com'] });
  expect(only.json.conversation).toMatchObject({ to: ['else@example.com'], cc: [], bcc: [] });
  const copies = await reply(id, { bcc: ['audit@example.com'] });
  expect(copies.json.conversation).toMatchObject({ to: ['else@example.com'], cc: [], bcc: ['audit@example.com'] });
});

test.each([
  ['an address that is none', { to: ['nobody'] }, ['#/to/0 invalid_format']],
  ['a line break in an address', { to: ['a@b.de\r\nBcc: x@y.de'] }, ['#/to/0 invalid_format']],
  ['a line break in the subject', { subject: 'a\nb' }, ['#/subject invalid_format']],
  ['an unknown mailbox', { subchannelId: 9 }, ['#/subchannelId unknown_subchannel']],
  ['a disabled mailbox', { subchannelId: 2 }, ['#/subchannelId subchannel_disabled']],
  ['a subchannel that is no mailbox', { subchannelId: 3 }, ['#/subchannelId not_allowed']],
  ['no text', { content: {} }, ['#/content/message required', '#/content/type required']],
  ['a note with recipients', { private: true, to: ['a@b.de'] }, ['#/to not_allowed']],
  ['a note that is a draft', { private: true, isDraft: true }, ['#/isDraft not_allowed']],
  ['data without a template', { templateData: {} }, ['#/templateData not_allowed']],
  ['an intent that the ticket does not have', { intentIds: [1] }, ['#/intentIds/0 unknown_intent']],
])('refuses a reply with %s, and changes nothing', async (_, body, violations) => {
  const { id } = await post();
  expect(violationsOf(await reply(id, body))).toEqual(violations);
  expect(await read(id)).toMatchObject({ version: 1 });
  expect((await list(id)).total).toBe(1);
});

test('a private note counts as internal, and is no message of the dialogue', async () => {
  const ticket = await post();
  const { json } = await reply(ticket.id, { private: true, content: content('Check the contract.') });
  expect(json.conversation).toMatchObject({ direction: 'internal', private: true, to: [], subject: null });
  expect(json.conversation).toMatchObject({ deliveryStatus: 'none', agentId: agentId });
  expect(await read(ticket.id)).toMatchObject({ version: 2, lastMessageAt: ticket.lastMessageAt });
  expect(await tickets.documentOf(ticket.id)).toMatchObject({ internalMessages: 1, incomingMessages: 1 });
  expect(await lastEvent(ticket.id)).toMatchObject({ type: 'conversation.created', conversationId: json.id });
  const changed = await patch(ticket.id, json.id, { content: content('Checked.') });
  expect(changed.json).toEqual({ success: true });
  expect((await list(ticket.id)).conversations[1]).toMatchObject({ body: 'Checked.', private: true });
  expect(violationsOf(await patch(ticket.id, json.id, { to: ['a@b.de'], subchannelId: 1 }))).toEqual([
    '#/subchannelId draft_only',
    '#/to draft_only',
  ]);
  expect((await tickets.request('DELETE', path(ticket.id, json.id))).json).toEqual({ success: true });
  expect(await tickets.documentOf(ticket.id)).toMatchObject({ internalMessages: 0, version: 3 });
  expect(await lastEvent(ticket.id)).toMatchObject({ type: 'ticket.updated', conversationId: json.id });
  expect((await list(ticket.id)).total).toBe(1);
});

// spec: 17.11, 34.2, 34.3, 34.4, 34.7, 34.8
test('a draft changes nothing until it is published, by one event', async () => {
  const ticket = await post({ subchannelId: 1 });
  const { json: draft } = await reply(ticket.id, { isDraft: true });
  expect(draft.conversation).toMatchObject({ isDraft: true, deliveryStatus: 'none', externalConversationId: null });
  expect(await read(ticket.id)).toMatchObject({ version: 1, lastMessageAt: ticket.lastMessageAt });
  const changes = {
    to: ['kim@example.com', 'two@example.com'],
    cc: [],
    bcc: ['audit@example.com'],
    subchannelId: 1,
  };
  expect((await patch(ticket.id, draft.id, { ...changes, content: content('<b>Tomorrow</b>', 'html') })).json).toEqual({
    success: true,
  });
  expect((await list(ticket.id)).conversations[1]).toMatchObject({
    ...changes,
    type: 'html',
    body: '<b>Tomorrow</b>',
    bodyPlain: 'Tomorrow',
    isDraft: true,
  });
  expect((await patch(ticket.id, draft.id, { isDraft: true })).status).toBe(200);
  expect((await patch(ticket.id, draft.id, { isDraft: false })).json).toEqual({ success: true });
  expect(await lastEvent(ticket.id)).toMatchObject({
    type: 'conversation.published',
    version: 2,
    conversationId: draft.id,
  });
  expect(await tickets.documentOf(ticket.id)).toMatchObject({ outgoingMessages: 1, draftIds: [] });
  expect((await list(ticket.id)).conversations[1]).toMatchObject({ isDraft: false, deliveryStatus: 'queued' });
});

test('what was sent is never changed, deleted or a draft again', async () => {
  const { id } = await post();
  const opening = (await list(id)).conversations[0].id;
  const sent = (await reply(id)).json.id;
  for (const conversationId of [opening, sent]) {
    const refused = { status: 409, code: 'message_was_sent' };
    expect((await patch(id, conversationId, { content: content('x') })).json).toMatchObject(refused);
    expect((await patch(id, conversationId, { isDraft: true })).json).toMatchObject(refused);
    expect((await patch(id, conversationId, { isDraft: false, to: ['a@b.de'] })).json).toMatchObject(refused);
    expect((await tickets.request('DELETE', path(id, conversationId))).json).toMatchObject(refused);
    expect((await patch(id, conversationId, { isDraft: false })).json).toEqual({ success: true });
    const resent = await tickets.request('POST', path(id, `${conversationId}/resend`));
    expect(resent.json).toMatchObject({ status: 409, code: 'message_not_failed' });
  }
  expect(await read(id)).toMatchObject({ version: 2 });
});

test('a draft is deleted without a trace', async () => {
  const { id } = await post();
  const draft = (await reply(id, { isDraft: true })).json.id;
  expect((await tickets.request('DELETE', path(id, draft))).json).toEqual({ success: true });
  expect((await tickets.request('DELETE', path(id, draft))).json).toMatchObject({ code: 'conversation_not_found' });
  expect((await list(id)).total).toBe(1);
  expect(await tickets.database.collection('conversations').findOne({ _id: draft as never })).toBeNull();
});

test.each(['pending', 'closed'])('an incoming message reopens a %s ticket', async (status) => {
  const { id } = await post({ status });
  const { status: code, json } = await store(id, { externalConversationId: `ext-${status}` });
  expect(code).toBe(201);
  expect(json).toMatchObject({ success: true, ticketId: id, conversationId: json.conversation.id });
  expect(json.conversation).toMatchObject({ direction: 'in', from: 'kim@example.com', deliveryStatus: 'none' });
  expect(await read(id)).toMatchObject({ status: 'open', closedAt: null, version: 2 });
  const event = await lastEvent(id);
  expect(event).toMatchObject({ type: 'conversation.created', cause: 'message' });
  expect(event.changes).toContainEqual({ field: 'status', oldValue: status, newValue: 'open' });
});

test.each([
  ['out', 'outgoingMessages'],
  ['internal', 'internalMessages'],
])('a stored message with direction %s is counted, reopens nothing and is not sent', async (direction, count) => {
  const { id } = await post({ status: 'closed' });
  const { json } = await store(id, { direction, to: ['kim@example.com'] });
  expect(json.conversation).toMatchObject({ direction, deliveryStatus: 'none' });
  expect(await read(id)).toMatchObject({ status: 'closed' });
  expect(await tickets.documentOf(id)).toMatchObject({ [count]: 1, incomingMessages: 1 });
});

test('a known external id returns the message that it named, also of another ticket', async () => {
  const first = await post();
  const second = await post();
  const stored = (await store(first.id, { externalConversationId: 'abc' })).json;
  const again = await store(second.id, { externalConversationId: 'abc', content: content('other') });
  expect(again.status).toBe(201);
  expect(again.json).toEqual(stored);
  expect((await list(second.id)).total).toBe(1);
  await tickets.request('DELETE', `/ticket/${first.id}`, { caller: { roleId: 1 } });
  expect((await store(second.id, { externalConversationId: 'abc' })).json.ticketId).toBe(second.id);
});

test('of many requests with one external id, one stores the message', async () => {
  const { id } = await post();
  const responses = await Promise.all(Array.from({ length: 12 }, () => store(id, { externalConversationId: 'many' })));
  expect(new Set(responses.map(({ json }) => json.conversationId)).size).toBe(1);
  expect((await list(id)).total).toBe(2);
  expect(await read(id)).toMatchObject({ version: 2 });
});

test('a message that is recorded later has its own time', async () => {
  const ticket = await post();
  await reply(ticket.id);
  const before = await read(ticket.id);
  const old = { createdAt: '2020-01-01 10:00:00', direction: 'out', to: ['old@example.com'] };
  expect((await store(ticket.id, old)).json.conversation).toMatchObject({ createdAt: '2020-01-01 10:00:00' });
  const { lastMessageAt, replyRecipients, lastResponseAuthor } = before;
  expect(await read(ticket.id)).toMatchObject({ lastMessageAt, replyRecipients, lastResponseAuthor });
  const times = (await list(ticket.id)).conversations.map(({ createdAt }: { createdAt: string }) => createdAt);
  expect(times.slice(1)).toEqual(times.slice(1).sort());
});

test.each([
  ['without a direction', { direction: undefined }, ['#/direction required']],
  ['that is private but incoming', { private: true }, ['#/private not_allowed']],
  ['with an invalid sender', { from: 'kim' }, ['#/from invalid_format']],
  ['that is incoming with blind copies', { bcc: ['a@b.de'] }, ['#/bcc not_allowed']],
  ['with a draft', { isDraft: true }, ['#/isDraft read_only_field']],
  [
    'that leaves, with more than 1 MiB',
    { direction: 'out', content: content('é'.repeat(524_289)) },
    ['#/content/message too_long'],
  ],
  [
    'for colleagues, with more than 1 MiB',
    { direction: 'internal', content: content('x'.repeat(1024 * 1024 + 1)) },
    ['#/content/message too_long'],
  ],
])('refuses to store a message %s', async (_, body, violations) => {
  const { id } = await post();
  expect(violationsOf(await store(id, body))).toEqual(violations);
  expect((await list(id)).total).toBe(1);
});

test('the list has pages', async () => {
  const { id } = await post();
  for (const minute of [1, 2, 3]) await store(id, { createdAt: `2031-01-01 10:0${minute}:00` });
  const all = (await list(id)).conversations.map((one: { id: number }) => one.id);
  expect(all).toHaveLength(4);
  const paged: number[] = [];
  for (const offset of [0, 1, 2, 3]) {
    const page = await list(id, `?limit=1&offset=${offset}`);
    expect(page).toMatchObject({ total: 4, offset, limit: 1 });
    paged.push(...page.conversations.map((one: { id: number }) => one.id));
  }
  expect(paged).toEqual(all);
  expect((await list(id, '?limit=3')).conversations.map((one: { id: number }) => one.id)).toEqual(all.slice(0, 3));
  expect((await list(id, '?offset=4')).conversations).toEqual([]);
});

test.each([
  ['with a mailbox', { subchannelId: 1 }, 'queued', 'support@example.org'],
  ['without a mailbox', {}, 'queued', 'desk@example.org'],
  ['without recipients', { subchannelId: 1, to: [], cc: [] }, 'none', null],
])('the first message of an outgoing ticket %s: %s', async (_, body, deliveryStatus, from) => {
  const out = { direction: 'out', from: undefined, fromName: undefined, to: ['kim@example.com'], cc: [] };
  const { id } = await post({ ...out, ...body });
  const { conversations, total } = await list(id);
  expect(total).toBe(1);
  expect(conversations[0]).toMatchObject({
    direction: 'out',
    deliveryStatus,
    from,
    body: 'The meter is broken.',
    agentId,
  });
  expect(await tickets.documentOf(id)).toMatchObject({ outgoingMessages: 1, openingMessageId: conversations[0].id });
  expect((await tickets.request('GET', path(id, conversations[0].id))).json).toEqual(conversations[0]);
});

// spec: 34.1
test('a message of another ticket, of none, and of a deleted one is not found', async () => {
  const first = await post();
  const second = await post();
  const { id } = (await reply(first.id)).json;
  const notFound = { status: 404, code: 'conversation_not_found' };
  expect((await tickets.request('GET', path(second.id, id))).json).toMatchObject(notFound);
  expect((await patch(second.id, id, { isDraft: false })).json).toMatchObject(notFound);
  expect((await tickets.request('GET', path(first.id, 999_999))).json).toMatchObject(notFound);
  await tickets.request('DELETE', `/ticket/${first.id}`, { caller: { roleId: 1 } });
  const gone = { status: 404, code: 'ticket_not_found' };
  for (const response of [
    await tickets.request('GET', path(first.id)),
    await tickets.request('GET', path(first.id, id)),
    await reply(first.id),
    await store(first.id),
    await patch(first.id, id, { isDraft: false }),
    await tickets.request('DELETE', path(first.id, id)),
  ]) {
    expect(response.json).toMatchObject(gone);
  }
  for (const name of ['conversations', 'externalMessageIds']) {
    expect(await tickets.database.collection(name).countDocuments({ ticketId: first.id })).toBe(0);
  }
});

test('a repeated request with an idempotency key writes one message', async () => {
  const { id } = await post();
  const headers = { 'idempotency-key': 'reply-once' };
  const first = await reply(id, {}, { headers });
  const second = await reply(id, {}, { headers });
  expect(second.json).toEqual(first.json);
  expect((await list(id)).total).toBe(2);
});

test('of a publishing, a change and a deletion at once, each is done or refused as a whole', async () => {
  for (let round = 0; round < 15; round++) {
    const { id } = await post();
    const draft = (await reply(id, { isDraft: true })).json.id;
    const [published, changed, deleted] = await Promise.all([
      patch(id, draft, { isDraft: false }),
      patch(id, draft, { content: content('changed') }),
      tickets.request('DELETE', path(id, draft)),
    ]);
    const { conversations } = await list(id);
    const message = conversations.find((one: { id: number }) => one.id === draft);
    const document = await tickets.documentOf(id);
    expect([published.status, deleted.status].filter((status) => status === 200)).toHaveLength(1);
    expect(document.version).toBe(published.status === 200 ? 2 : 1);
    if (published.status === 200) {
      expect(message).toMatchObject({ isDraft: false, deliveryStatus: 'queued' });
      expect(message.body).toBe(changed.status === 200 ? 'changed' : 'We send someone.');
    } else expect(message).toBeUndefined();
  }
});

const file = (name: string, text: string) => ({ name, base64: Buffer.from(text).toString('base64') });
const filesStored = () => tickets.database.collection('fileRecords').countDocuments();

// spec: 34.6
test('files of messages are listed by them, and a draft keeps, adds and drops some', async () => {
  const { id } = await post({ attachments: [file('meter.txt', 'zero')] });
  const { json: draft } = await reply(id, { isDraft: true, attachments: [file('a.txt', 'one'), file('b.txt', 'two')] });
  const names = async () =>
    (await list(id)).conversations.map((one: { attachments: { name: string }[] }) =>
      one.attachments.map(({ name }) => name),
    );
  expect(await names()).toEqual([['meter.txt'], ['a.txt', 'b.txt']]);
  const [first, second] = draft.conversation.attachments;
  expect(first).toMatchObject({ size: 3, url: `/ticket/${id}/attachment/${first.id}` });
  const before = await filesStored();
  await patch(id, draft.id, { attachments: [file('c.txt', 'three'), { id: second.id }] });
  expect(await names()).toEqual([['meter.txt'], ['c.txt', 'b.txt']]);
  expect(await filesStored()).toBe(before);
  const unknown = await patch(id, draft.id, { attachments: [{ id: first.id }, file('d.txt', 'four')] });
  expect(violationsOf(unknown)).toEqual(['#/attachments/0/id unknown_attachment']);
  const both = await patch(id, draft.id, { attachments: [{ id: second.id, base64: 'AAAA' }] });
  expect(violationsOf(both)).toEqual(['#/attachments/0 invalid_attachment']);
  expect(await filesStored()).toBe(before);
  await patch(id, draft.id, { isDraft: false, attachments: [{ id: second.id }] });
  expect(await names()).toEqual([['meter.txt'], ['b.txt']]);
  expect(await filesStored()).toBe(before - 1);
  expect((await read(id)).attachments).toHaveLength(1);
});

test('the files of a deleted note, and of a refused reply, are removed', async () => {
  const { id } = await post();
  const before = await filesStored();
  const note = (await reply(id, { private: true, attachments: [file('a.txt', 'one')] })).json.id;
  expect(await filesStored()).toBe(before + 1);
  await tickets.request('DELETE', path(id, note));
  expect(await filesStored()).toBe(before);
  expect((await reply(id, { attachments: [{ name: 'x', base64: '!' }] })).status).toBe(400);
  expect((await reply(999_999, { attachments: [file('a.txt', 'one')] })).status).toBe(404);
  expect(await filesStored()).toBe(before);
});

test('a repeated publishing with changes returns the response of the first, also if that was lost', async () => {
  const { id } = await post();
  const draft = (await reply(id, { isDraft: true })).json.id;
  const headers = { 'idempotency-key': 'publish-once' };
  const body = { content: content('Tomorrow.'), isDraft: false };
  expect((await patch(id, draft, body, { headers })).json).toEqual({ success: true });
  // As after a crash between the change and its response.
  await tickets.database
    .collection('idempotencyKeys')
    .updateMany({ state: 'done' }, { $set: { state: 'running', lease: null, response: null } });
  expect((await patch(id, draft, body, { headers })).json).toEqual({ success: true });
  expect(await read(id)).toMatchObject({ version: 2 });
});

test('a known external id is found whatever else the request has', async () => {
  const { id } = await post();
  const stored = (await store(id, { externalConversationId: 'known-1' })).json;
  const again = await store(id, {
    externalConversationId: 'known-1',
    subchannelId: 2,
    attachments: [{ name: 'x', url: 'https://127.0.0.1/none' }],
  });
  expect(again.json).toEqual(stored);
});

test('pointers name the new file of a draft by its place, and no file is listed twice', async () => {
  const { id } = await post();
  const { json: draft } = await reply(id, { isDraft: true, attachments: [file('a.txt', 'one')] });
  const kept = { id: draft.conversation.attachments[0].id };
  const bad = await patch(id, draft.id, { attachments: [kept, { name: 'b', base64: '!' }] });
  expect(violationsOf(bad)).toEqual(['#/attachments/1/base64 invalid_attachment']);
  expect(violationsOf(await patch(id, draft.id, { attachments: [kept, kept] }))).toEqual([
    '#/attachments/1 invalid_attachment',
  ]);
});

test('a time in the future does not keep later messages from counting as the latest', async () => {
  const { id } = await post();
  await store(id, { createdAt: '2099-01-01 00:00:00', from: 'future@example.com' });
  await store(id, { from: 'now@example.com' });
  const ticket = await read(id);
  expect(ticket.lastMessageAt < '2099').toBe(true);
  expect(ticket.replyRecipients.to).toEqual(['now@example.com']);
});

test('a deleted note frees its external id, and its own id is never used again', async () => {
  const { id } = await post();
  const note = { direction: 'internal', private: true, externalConversationId: 'note-1' };
  const first = (await store(id, note)).json.conversationId;
  await tickets.request('DELETE', path(id, first));
  expect((await store(id, note)).json.conversationId).toBeGreaterThan(first);
});

test('the first message is the first in the list, also if an older one is recorded', async () => {
  const out = { direction: 'out', from: undefined, fromName: undefined, to: ['kim@example.com'], cc: [] };
  for (const body of [{ ...out, subchannelId: 1 }, {}]) {
    const { id } = await post(body);
    await store(id, { createdAt: '2001-01-01 00:00:00', to: [] });
    expect((await list(id)).conversations[0]).toMatchObject({ body: 'The meter is broken.' });
  }
});

test('by RPC only the fields count that the mask names', async () => {
  const { id } = await post();
  const draft = (await reply(id, { isDraft: true })).json.id;
  const request = create(UpdateConversationRequestSchema, {
    ticketId: id,
    conversationId: draft,
    isDraft: false,
    content: { message: 'not named', type: ContentType.TEXT },
    to: ['new@example.com'],
    updateMask: { paths: ['to'] },
  });
  const database = await tickets.openDatabase();
  await newProcess(tickets, database).updateConversation(testCall(), request);
  await database.close();
  expect((await list(id)).conversations[1]).toMatchObject({
    isDraft: true,
    to: ['new@example.com'],
    body: 'We send someone.',
  });
});
