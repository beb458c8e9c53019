import { type ReceivedMail, type SmtpReceiver, startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings } from '../settings.ts';
import type { KnownSubchannel } from '../ticket/rules/subchannels.ts';

// Each row says what is stored, and whether a mail leaves, which a second program reads.

let tickets: TicketsHarness;
let server: SmtpReceiver;
let hasSender = true;
const mailbox = { enabled: true, interface: 'smtp', channel: 1 } as const;
const subchannels = new Map<number, KnownSubchannel>([
  [1, { ...mailbox, name: 'Support', address: 'support@example.org' }],
  [2, { enabled: true, interface: 'tel', channel: 3, name: 'Hotline' }],
  [4, { ...mailbox, enabled: false, name: 'Old', address: 'old@example.org' }],
]);
const withDefault = new Map([
  ...subchannels,
  [3, { ...mailbox, name: 'All', address: 'all@example.org', isDefault: true }] as const,
]);

beforeAll(async () => {
  server = await startSmtpReceiver({ accept: () => undefined });
  tickets = await startHarness({
    variables: { ROLES: 'api,mailer', MAIL_FOLDER: '', SMTP_URL: `smtp://127.0.0.1:${server.port}` },
    settings: async () => ({
      ...defaultSettings,
      subchannels: hasSender ? withDefault : new Map([[2, { enabled: true, interface: 'tel', channel: 3 }]]),
    }),
  });
});
afterAll(async () => {
  await tickets.stop();
  await server.close();
});

const kim = 'kim@example.com';
const channels = ['email', 'chat', 'phone', 'letter', 'portal', 'walkIn', 'system'];
const path = (ticketId: number, rest: string | number) => `/ticket/${ticketId}/conversation/${rest}`;
const post = async (body: object) => (await tickets.request('POST', '/ticket', { body })).json;
const reply = (ticketId: number, body: object = {}) => {
  const content = { message: 'We send someone.', type: 'text' };
  return tickets.request('POST', path(ticketId, 'reply'), { body: { content, ...body } });
};
const read = async ({ ticketId, id }: { ticketId: number; id: number }) =>
  (await tickets.request('GET', path(ticketId, id))).json;
const firstMessage = async (ticketId: number) =>
  (await tickets.request('GET', `/ticket/${ticketId}/conversation`)).json.conversations[0];
const hasMessageId = (messageId: string) => (mail: ReceivedMail) => mail.bytes.includes(`Message-ID: ${messageId}`);

/** The ids of the mails that were to leave. */
const expected: string[] = [];

/** Waits until a message has left, and returns it as its recipients get it. */
async function left(message: { ticketId: number; id: number; externalConversationId: string }) {
  const messageId = message.externalConversationId;
  expect(message).toMatchObject({ deliveryStatus: 'queued', notSentReason: null });
  expected.push(messageId);
  await expect.poll(async () => (await read(message)).deliveryStatus, { timeout: 30_000 }).toBe('sent');
  const [received, ...others] = server.mails.filter(hasMessageId(messageId));
  expect(others).toEqual([]);
  if (!received) throw new Error('the mail has not arrived');
  return { envelope: received.to, mail: await PostalMime.parse(received.bytes) };
}

/** A ticket on a channel, of a customer with an e-mail address or without. */
async function ticketOn(channel: string, hasAddress: boolean) {
  const number = channel === 'phone' ? '+49 30 1' : undefined;
  const subchannelId = channel === 'phone' ? 2 : undefined;
  const from = hasAddress && channel !== 'system' ? kim : number;
  return post({ channel, from, subchannelId, subject: 'Meter', body: 'The meter is broken.' });
}

test.each(channels.filter((channel) => channel !== 'chat' && channel !== 'system'))(
  'a reply on channel %s leaves as a mail from the default mailbox',
  async (channel) => {
    const { id } = await ticketOn(channel, true);
    const { conversation } = (await reply(id)).json;
    expect(conversation).toMatchObject({ from: 'all@example.org', fromName: 'All', subchannelId: 3, to: [kim] });
    const { envelope, mail } = await left(conversation);
    expect(envelope).toEqual([kim]);
    expect(mail).toMatchObject({ from: { address: 'all@example.org', name: 'All' }, text: 'We send someone.\n' });
    expect(mail.subject).toMatch(/^Re: Meter \[#\d+-\w+\]$/);
  },
);

test.each(channels)('on channel %s a reply leaves to those who are named and have an address', async (channel) => {
  const { id } = await ticketOn(channel, false);
  const isStrict = channel === 'email' || channel === 'portal';
  const to = isStrict ? [kim] : ['+49 30 1', kim, 'Visitor 7'];
  const { conversation } = (await reply(id, { to, bcc: ['boss@example.com'], subchannelId: 1 })).json;
  expect(conversation).toMatchObject({ from: 'support@example.org', subchannelId: 1, to, bcc: ['boss@example.com'] });
  const { envelope, mail } = await left(conversation);
  expect(envelope).toEqual([kim, 'boss@example.com']);
  expect(mail.to).toEqual([{ address: kim, name: '' }]);
});

test.each(channels)(
  'on channel %s a reply without a recipient is stored, and says that it is not sent',
  async (channel) => {
    const { id } = await ticketOn(channel, channel === 'chat');
    const notSentReason = channel === 'chat' ? 'channel_without_mail' : 'no_recipient';
    const { status, json } = await reply(id);
    expect(status).toBe(201);
    expect(json.conversation).toMatchObject({ direction: 'out', deliveryStatus: 'none', notSentReason });
    expect(json.conversation.externalConversationId).toBeNull();
    expect(await read(json.conversation)).toEqual(json.conversation);
    expect(await tickets.documentOf(id)).toMatchObject({ outgoingMessages: 1 });
  },
);

test.each(channels)('on channel %s a note is not sent, and has no reason', async (channel) => {
  const { id } = await ticketOn(channel, true);
  const { conversation } = (await reply(id, { private: true })).json;
  expect(conversation).toMatchObject({ private: true, deliveryStatus: 'none', notSentReason: null });
  expect(violationsOf(await reply(id, { private: true, send: true }))).toEqual(['#/send not_allowed']);
});

test.each(channels)('on channel %s `send` false only records a reply', async (channel) => {
  const { id } = await ticketOn(channel, true);
  const { conversation } = (await reply(id, { to: [kim], send: false })).json;
  expect(conversation).toMatchObject({ to: [kim], deliveryStatus: 'none', notSentReason: null });
  expect(conversation.externalConversationId).toBeNull();
  expect(await tickets.documentOf(id)).toMatchObject({ outgoingMessages: 1 });
});

test.each(channels)('on channel %s a draft leaves when it is published', async (channel) => {
  const { id } = await ticketOn(channel, true);
  expect(violationsOf(await reply(id, { isDraft: true, send: true }))).toEqual(['#/send not_allowed']);
  const draft = (await reply(id, { isDraft: true })).json.conversation;
  expect(draft).toMatchObject({ to: channel === 'system' ? [] : [kim], deliveryStatus: 'none', notSentReason: null });
  const isNamed = channel === 'chat' || channel === 'system';
  const body = { isDraft: false, ...(isNamed ? { to: [kim] } : {}) };
  expect((await tickets.request('PATCH', path(id, draft.id), { body })).status).toBe(200);
  const published = await read(draft);
  const { envelope } = await left({ ...published, deliveryStatus: 'queued' });
  expect(envelope).toEqual([kim]);
});

test.each([
  ['chat', {}, { to: [kim], notSentReason: 'channel_without_mail' }],
  ['chat', { to: [], cc: [] }, { to: [kim], notSentReason: 'channel_without_mail' }],
  ['letter', { send: false }, { to: [kim], notSentReason: null }],
  ['email', { to: [] }, { to: [kim], notSentReason: null, isSent: true }],
  ['system', {}, { to: [], notSentReason: 'no_recipient' }],
])(
  'a draft on channel %s that is published with %o',
  async (channel, given, {
    to,
    notSentReason,
    isSent,
  }: object & {
    to: string[];
    notSentReason: string | null;
    isSent?: boolean;
  }) => {
    const { id } = await ticketOn(channel, true);
    const draft = (await reply(id, { isDraft: true })).json.conversation;
    const publish = (body: object) => tickets.request('PATCH', path(id, draft.id), { body });
    expect(violationsOf(await publish({ send: false }))).toEqual(['#/send not_allowed']);
    expect((await publish({ isDraft: false, ...given })).status).toBe(200);
    const published = await read(draft);
    expect(published).toMatchObject({ isDraft: false, to, notSentReason });
    if (isSent) await left({ ...published, deliveryStatus: 'queued' });
    else expect(published).toMatchObject({ deliveryStatus: 'none', externalConversationId: null });
    // Nothing is published twice.
    expect((await publish({ isDraft: false, send: true })).status).toBe(200);
    expect(await read(draft)).toMatchObject({ notSentReason });
  },
);

const opening = { direction: 'out', subject: 'Your meter', body: 'We come on Monday.' };

test.each(channels)('on channel %s an outgoing ticket leaves if it has a recipient', async (channel) => {
  const { id } = await post({ ...opening, channel, to: [kim] });
  const first = await firstMessage(id);
  const { envelope, mail } = await left({ ...first, deliveryStatus: 'queued' });
  expect(envelope).toEqual([kim]);
  expect(mail).toMatchObject({ from: { address: 'all@example.org' }, text: 'We come on Monday.\n' });
  const { id: recorded } = await post({ ...opening, channel, to: [kim], send: false });
  expect(await firstMessage(recorded)).toMatchObject({ deliveryStatus: 'none', notSentReason: null, to: [kim] });
  const { id: alone } = await post({ ...opening, channel });
  const notSentReason = channel === 'chat' ? 'channel_without_mail' : 'no_recipient';
  expect(await firstMessage(alone)).toMatchObject({ deliveryStatus: 'none', notSentReason });
});

test('what left elsewhere never leaves here', async () => {
  const oldTickets = Array.from({ length: 100 }, (_, nth) => ({
    ...{ ...opening, channel: channels[nth % channels.length], to: [kim] },
    ...{ externalTicketId: `old-${nth}`, createdAt: '2020-01-01 00:00:00' },
  }));
  for (const body of oldTickets) {
    const { id } = await post(body);
    expect(await firstMessage(id)).toMatchObject({ deliveryStatus: 'none', notSentReason: null });
  }
  // Known external ids.
  const known = (await post({ ...oldTickets[0], createdAt: undefined, body: 'Changed.' })).id;
  expect(await firstMessage(known)).toMatchObject({ body: 'Changed.', deliveryStatus: 'none' });
  const body = { content: { message: 'Was sent.', type: 'text' }, direction: 'out', to: [kim] };
  const stored = await tickets.request('POST', path(known, 'store'), { body });
  expect(stored.json.conversation).toMatchObject({ deliveryStatus: 'none', notSentReason: null });
});

test('without a sender a reply is refused, and an outgoing ticket says so', async () => {
  hasSender = false;
  try {
    const { id } = await ticketOn('phone', true);
    expect((await reply(id)).json).toMatchObject({ status: 409, code: 'no_sender' });
    expect((await reply(id, { send: false })).status).toBe(201);
    const draft = (await reply(id, { isDraft: true })).json.conversation;
    const published = await tickets.request('PATCH', path(id, draft.id), { body: { isDraft: false } });
    expect(published.json).toMatchObject({ status: 409, code: 'no_sender' });
    const out = await post({ ...opening, channel: 'letter', to: [kim] });
    expect(await firstMessage(out.id)).toMatchObject({ deliveryStatus: 'none', notSentReason: 'no_sender' });
  } finally {
    hasSender = true;
  }
});

test('a customer gets the next answer at an address that became known after one without a recipient', async () => {
  const { id } = await ticketOn('portal', false);
  expect((await reply(id)).json.conversation).toMatchObject({ to: [], notSentReason: 'no_recipient' });
  const body = { content: { message: 'It is urgent.', type: 'text' }, direction: 'in', from: kim };
  await tickets.request('POST', path(id, 'store'), { body });
  const { envelope } = await left((await reply(id)).json.conversation);
  expect(envelope).toEqual([kim]);
});

test('a name or a number in a chat names no recipient', async () => {
  const { id } = await ticketOn('chat', true);
  const { conversation } = (await reply(id, { cc: ['Visitor 8'] })).json;
  expect(conversation).toMatchObject({ to: [kim], cc: ['Visitor 8'], notSentReason: 'channel_without_mail' });
});

test('a mail that comes to a chat is answered by mails, until the customer writes in the chat again', async () => {
  const { id } = await ticketOn('chat', true);
  const { conversation } = (await reply(id, { to: [kim] })).json;
  await left(conversation);
  const lines = [
    `From: ${kim}`,
    'To: all@example.org',
    `In-Reply-To: ${conversation.externalConversationId}`,
    '',
    'Thanks.',
  ];
  const token = await tickets.identity.internalToken('tickets', testCaller({ roleId: 1 }));
  await fetch(`${tickets.url}/ticketing.tickets.v1.MailService/ReceiveMail`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ mail: Buffer.from(lines.join('\r\n')).toString('base64') }),
  });
  for (const message of ['First.', 'I forgot something.']) {
    await left((await reply(id, { content: { message, type: 'text' } })).json.conversation);
  }
  const body = { content: { message: 'Are you there?', type: 'text' }, direction: 'in', from: 'Visitor 7' };
  await tickets.request('POST', path(id, 'store'), { body });
  expect((await reply(id)).json.conversation).toMatchObject({ notSentReason: 'channel_without_mail' });
});

test('a draft in a chat whose recipients were named and taken back is not sent', async () => {
  const { id } = await ticketOn('chat', true);
  const draft = (await reply(id, { isDraft: true, cc: ['boss@example.com'] })).json.conversation;
  expect(draft).toMatchObject({ to: [kim] });
  expect((await tickets.request('PATCH', path(id, draft.id), { body: { cc: [] } })).status).toBe(200);
  await tickets.request('PATCH', path(id, draft.id), { body: { isDraft: false } });
  expect(await read(draft)).toMatchObject({ notSentReason: 'channel_without_mail' });
});

test('a mail leaves from no disabled mailbox, and a recorded call has no mailbox', async () => {
  const { id } = await post({ channel: 'email', from: kim, subject: 'Meter', body: 'Broken.' });
  await tickets.database.collection('tickets').updateOne({ _id: id }, { $set: { subchannelId: 4 } });
  const { conversation } = (await reply(id)).json;
  expect(conversation).toMatchObject({ from: 'all@example.org', subchannelId: 3 });
  await left(conversation);
  const call = await ticketOn('phone', true);
  const recorded = (await reply(call.id, { send: false })).json.conversation;
  expect(recorded).toMatchObject({ from: null, fromName: null, subchannelId: 2 });
});

test('a mail that is answered is dated now, even if its ticket is dated in the future', async () => {
  const { id } = await post({ ...opening, channel: 'phone', to: [kim], createdAt: '2200-01-01 00:00:00' });
  const { mail } = await left({ ...(await firstMessage(id)), deliveryStatus: 'queued' });
  expect(String(mail.date) < '2100').toBe(true);
});

test('`send` is refused where nothing is published', async () => {
  const { id } = await ticketOn('letter', true);
  const { conversation } = (await reply(id, { send: false })).json;
  const patched = await tickets.request('PATCH', path(id, conversation.id), { body: { send: true } });
  expect(violationsOf(patched)).toEqual(['#/send not_allowed']);
});

test('the first message of an outgoing ticket that is not sent follows its ticket', async () => {
  const outgoing = { ...opening, channel: 'phone', externalTicketId: 'call-1', to: ['+49 30 1'] };
  const { id } = await post(outgoing);
  expect(await firstMessage(id)).toMatchObject({ from: null, to: ['+49 30 1'], notSentReason: 'no_recipient' });
  await post({ ...outgoing, body: 'Changed.' });
  expect(await firstMessage(id)).toMatchObject({ body: 'Changed.', notSentReason: 'no_recipient' });
});

test('nothing else has left', () => {
  const ids = server.mails.map(({ bytes }) => /Message-ID: (<[^>]+>)/.exec(bytes.toString())?.[1]);
  expect(ids.sort()).toEqual([...expected].sort());
});
