import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import {
  ReceivedMailOutcome,
  ReceiveMailRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { type ReceivedMail, reply, type SmtpReceiver, startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { defaultSettings } from '../settings.ts';
import type { KnownSubchannel } from '../ticket/rules/subchannels.ts';

let tickets: TicketsHarness;
let server: SmtpReceiver;
let accept: (mail: ReceivedMail) => void | Promise<void> = () => undefined;
let mailFrom: string | null = null;
/** Delays all reads of the settings, for example by the mailer when it has claimed a mail. */
let settingsRead: Promise<void> = Promise.resolve();
const subchannels = new Map<number, KnownSubchannel>([
  [1, { enabled: true, interface: 'imap', channel: 1, name: 'Shop Größe', address: 'help@shop.example' }],
  [2, { enabled: true, interface: 'imap', channel: 1, name: 'No address' }],
]);

beforeAll(async () => {
  server = await startSmtpReceiver({
    accept: (mail) => accept(mail),
    onRcptTo({ address }, _session, done) {
      if (address.startsWith('unknown')) done(reply(550, 'unknown'));
      else done(address.startsWith('greylisted') ? reply(451, 'greylisted') : undefined);
    },
  });
  tickets = await startHarness({
    variables: { ROLES: 'api,mailer', MAIL_FOLDER: '', SMTP_URL: `smtp://127.0.0.1:${server.port}` },
    settings: async () => {
      await settingsRead;
      return { ...defaultSettings, subchannels, mailFrom };
    },
  });
});
afterEach(() => {
  accept = () => undefined;
  mailFrom = null;
});
afterAll(async () => {
  await tickets.stop();
  await server.close();
});

const post = async (body: object = {}) => {
  const mail = { channel: 'email', from: 'kim@example.com', subject: 'Meter', body: 'Broken.', subchannelId: 1 };
  return (await tickets.request('POST', '/ticket', { body: { ...mail, ...body } })).json;
};
const path = (ticketId: number, rest: string | number) => `/ticket/${ticketId}/conversation/${rest}`;
const send = async (ticketId: number, body: object = {}) =>
  (
    await tickets.request('POST', path(ticketId, 'reply'), {
      body: { content: { message: 'Soon.', type: 'text' }, ...body },
    })
  ).json.conversation;
const read = async ({ ticketId, id }: { ticketId: number; id: number }) =>
  (await tickets.request('GET', path(ticketId, id))).json;
const statusOf = async (message: { ticketId: number; id: number }) => (await read(message)).deliveryStatus;
// biome-ignore lint/suspicious/noExplicitAny: the tests read many of its fields
type MessageDocument = { _id: number; createdAt: Date; mail: any; lease?: object | null };
const messages = () => tickets.database.collection<MessageDocument>('conversations');
const documentOf = (id: number) => messages().findOne({ _id: id });
const received = (messageId: string) => server.mails.filter(({ bytes }) => bytes.includes(`Message-ID: ${messageId}`));
const resend = ({ ticketId, id }: { ticketId: number; id: number }) =>
  tickets.request('POST', path(ticketId, `${id}/resend`));
/** Makes the next attempt due. */
const hurry = (id: number) => messages().updateOne({ _id: id }, { $set: { 'mail.nextAttemptAt': new Date(0) } });
const patience = { timeout: 30_000 };

test('a reply leaves: a second parser reads the same text, recipients and files', async () => {
  const ticket = await post();
  const file = seededBytes(200_001);
  const message = await send(ticket.id, {
    content: { message: '<p>Größe: <b>7 €</b><script>x</script></p>', type: 'html' },
    ...{ to: ['kim@example.com'], cc: ['boss@example.com'], bcc: ['audit@example.com'] },
    subject: 'Re: Zähler 価格',
    attachments: [{ name: 'Rechnung Größe.bin', base64: file.toString('base64') }],
  });
  await expect.poll(() => statusOf(message), patience).toBe('sent');
  const [mail, ...others] = received(message.externalConversationId);
  expect(others).toEqual([]);
  expect(mail).toMatchObject({
    from: 'help@shop.example',
    to: ['kim@example.com', 'boss@example.com', 'audit@example.com'],
  });
  const email = await PostalMime.parse(mail?.bytes ?? '');
  expect(email).toMatchObject({
    from: { name: 'Shop Größe', address: 'help@shop.example' },
    to: [{ address: 'kim@example.com' }],
    cc: [{ address: 'boss@example.com' }],
    subject: expect.stringMatching(new RegExp(`^Re: Zähler 価格 \\[#${ticket.id}-[a-z2-7]{8}\\]$`)),
    attachments: [{ filename: 'Rechnung Größe.bin' }],
  });
  expect(email.html?.trim()).toBe('<p>Größe: <b>7 €</b></p>');
  expect(email.text?.trim()).toBe('Größe: 7 €');
  expect(Buffer.from(email.attachments[0]?.content as ArrayBuffer).equals(file)).toBe(true);
  // The random bytes of the file may spell anything.
  const [readable = ''] = mail?.bytes.toString().split('Content-Transfer-Encoding: base64') ?? [];
  expect(readable).toContain('X-Ticketing-Ticket');
  expect(readable).not.toMatch(/audit|auto-submitted/i);
});

test('a mail of a program says so, by what is stored with it; one that a person wrote or published does not', async () => {
  const { id } = await post();
  const person = { kind: 'user' as const, profileId: 7 };
  const program = { kind: 'serviceWorker' as const, profileId: 20 };
  const service = { kind: 'service' as const, profileId: null, service: 'intents' };
  const write = async (caller: Partial<Caller>, body: object = {}) => {
    const content = { message: 'Soon.', type: 'text' };
    const answer = await tickets.request('POST', path(id, 'reply'), { caller, body: { content, ...body } });
    return answer.json.conversation;
  };
  const sent = async (message: { ticketId: number; id: number }) => {
    await expect.poll(() => statusOf(message), patience).toBe('sent');
    const { externalConversationId } = await read(message);
    const email = await PostalMime.parse(received(externalConversationId)[0]?.bytes ?? '');
    return email.headers.find(({ key }) => key === 'auto-submitted')?.value;
  };
  expect(await sent(await write(program))).toBe('auto-replied');
  expect(await sent(await write(service))).toBe('auto-replied');
  expect(await sent(await write(person))).toBeUndefined();
  const publish = async (author: Partial<Caller>, publisher: Partial<Caller>) => {
    const draft = await write(author, { isDraft: true });
    await tickets.request('PATCH', path(id, draft.id), { caller: publisher, body: { isDraft: false } });
    return sent(draft);
  };
  expect(await publish(program, service)).toBe('auto-replied');
  expect(await publish(program, person)).toBeUndefined();
  expect(await publish(person, program)).toBeUndefined();

  const opening = await tickets.request('POST', '/ticket', {
    caller: program,
    body: {
      channel: 'email',
      direction: 'out',
      subchannelId: 1,
      to: ['kim@example.com'],
      subject: 'x',
      body: 'Broken.',
    },
  });
  const [first] = (await tickets.request('GET', `/ticket/${opening.json.id}/conversation`)).json.conversations;
  expect(await sent(first)).toBe('auto-replied');
  expect(await documentOf(first.id)).toMatchObject({ isAutomatic: true });
});

test('a mail refers to the earlier ones of its ticket', async () => {
  const { id } = await post();
  const first = await send(id);
  const second = await send(id);
  const incoming = { direction: 'in', externalConversationId: '<from-kim@example.com>' };
  const content = { message: 'Thanks', type: 'text' };
  await tickets.request('POST', path(id, 'store'), { body: { ...incoming, content } });
  await tickets.request('POST', path(id, 'store'), {
    body: { direction: 'in', externalConversationId: 'no mail', content },
  });
  const third = await send(id);
  await expect.poll(() => received(third.externalConversationId).length, patience).toBe(1);
  const references = [first.externalConversationId, second.externalConversationId, '<from-kim@example.com>'];
  const email = await PostalMime.parse(received(third.externalConversationId)[0]?.bytes ?? '');
  expect(email).toMatchObject({ references: references.join(' '), inReplyTo: '<from-kim@example.com>' });
});

test('a reply to a mail finds its ticket by the mail, or by the token in its subject; the mail itself is refused', async () => {
  const { id } = await post();
  const message = await send(id);
  await expect.poll(() => received(message.externalConversationId).length, patience).toBe(1);
  const sent = await PostalMime.parse(received(message.externalConversationId)[0]?.bytes ?? '');
  const database = await tickets.openDatabase();
  onTestFinished(() => database.close());
  const settings = async () => ({ ...defaultSettings, subchannels });
  const context = newProcess(tickets, database, 0, { settings });
  const receive = (mail: Uint8Array | string) =>
    context.receiveMail(testCall(), create(ReceiveMailRequestSchema, { mail: Buffer.from(mail) }));
  const answer = (headers: string) =>
    receive(
      `From: kim@example.com\r\nTo: help@shop.example\r\nMessage-ID: <${randomUUID()}@x>\r\n${headers}\r\n\r\nHi`,
    );
  const added = { ticketId: id, outcome: ReceivedMailOutcome.MESSAGE_ADDED };
  expect(await answer(`References: ${message.externalConversationId}\r\nSubject: other`)).toMatchObject(added);
  expect(await answer(`Subject: AW: ${sent.subject}`)).toMatchObject(added);
  expect(await answer(`Subject: AW: ${sent.subject?.replace(`#${id}-`, `#${id + 1}-`)}`)).toMatchObject({
    outcome: ReceivedMailOutcome.TICKET_CREATED,
  });
  const back = received(message.externalConversationId)[0]?.bytes.toString() ?? '';
  expect(await receive(back)).toMatchObject({ outcome: ReceivedMailOutcome.ALREADY_KNOWN });
  const changed = back.replace(message.externalConversationId, '<changed@example.com>');
  await expect(receive(changed)).rejects.toMatchObject({ reason: 'mail_loop' });
});

// spec: 21.7, 21.8
test('an outgoing ticket is sent from its mailbox, and not without a sender', async () => {
  const { id } = await post({ direction: 'out', from: undefined, to: ['kim@example.com'], bcc: ['audit@example.com'] });
  const [opening] = (await tickets.request('GET', `/ticket/${id}/conversation`)).json.conversations;
  await expect.poll(() => statusOf(opening), patience).toBe('sent');
  const [mail] = received(opening.externalConversationId);
  expect(mail).toMatchObject({ from: 'help@shop.example', to: ['kim@example.com', 'audit@example.com'] });
  expect((await PostalMime.parse(mail?.bytes ?? '')).text?.trim()).toBe('Broken.');
  const { id: other } = await post({ direction: 'out', to: ['kim@example.com'], subchannelId: null });
  const [unsent] = (await tickets.request('GET', `/ticket/${other}/conversation`)).json.conversations;
  expect(unsent).toMatchObject({ deliveryStatus: 'none', notSentReason: 'no_sender' });
});

test('a draft is sent when it is published, not before', async () => {
  const { id } = await post();
  const draft = await send(id, { isDraft: true });
  const other = await send(id);
  await expect.poll(() => statusOf(other), patience).toBe('sent');
  expect(await read(draft)).toMatchObject({ deliveryStatus: 'none', externalConversationId: null });
  await tickets.request('PATCH', path(id, draft.id), { body: { isDraft: false } });
  await expect.poll(() => statusOf(draft), patience).toBe('sent');
  expect(received((await read(draft)).externalConversationId)).toHaveLength(1);
});

// guarantee: F12
test('a mail that is deferred is sent again later, with the same Message-ID and the same bytes', async () => {
  let count = 0;
  accept = ({ bytes }) => {
    server.mails.push({ from: 'refused', to: [], bytes });
    count += 1;
    if (count < 3) throw reply(451, 'greylisted');
    server.mails.pop();
  };
  const { id } = await post();
  const message = await send(id);
  for (const attempts of [1, 2]) {
    await expect.poll(async () => (await documentOf(message.id))?.mail.attempts, patience).toBe(attempts);
    expect(await documentOf(message.id)).toMatchObject({ deliveryStatus: 'queued', lease: null });
    expect((await documentOf(message.id))?.mail.lastError).toContain('451');
    const { createdAt, mail } = (await documentOf(message.id)) ?? expect.unreachable();
    // The message is older than the attempt, so a slow machine only makes the difference larger.
    const laterMs = mail.nextAttemptAt.getTime() - createdAt.getTime();
    expect(laterMs).toBeGreaterThan(attempts === 1 ? 40_000 : 200_000);
    await hurry(message.id);
  }
  await expect.poll(() => statusOf(message), patience).toBe('sent');
  const attempts = received(message.externalConversationId);
  expect(attempts).toHaveLength(3);
  expect(new Set(attempts.map(({ bytes }) => bytes.toString())).size).toBe(1);
  expect((await documentOf(message.id))?.mail).toMatchObject({ attempts: 3, lastError: null, nextAttemptAt: null });
});

test('after the last attempt of the schedule a mail has failed', async () => {
  const { id } = await post();
  const message = await send(id, { to: ['greylisted@example.com'] });
  await expect.poll(async () => (await documentOf(message.id))?.mail.attempts, patience).toBe(1);
  await messages().updateOne({ _id: message.id }, { $set: { 'mail.attempts': 5, 'mail.nextAttemptAt': new Date(0) } });
  await expect.poll(async () => (await documentOf(message.id))?.mail.attempts, patience).toBe(6);
  expect(await statusOf(message)).toBe('queued');
  await hurry(message.id);
  await expect.poll(() => statusOf(message), patience).toBe('failed');
  expect((await documentOf(message.id))?.mail).toMatchObject({ attempts: 7, nextAttemptAt: null });
});

test('a mail that is refused has failed, and can be sent again, as often as it fails', async () => {
  accept = () => Promise.reject(reply(554, 'spam'));
  const { id } = await post();
  const message = await send(id);
  await expect.poll(() => statusOf(message), patience).toBe('failed');
  expect((await documentOf(message.id))?.mail.lastError).toContain('554');
  const again = await resend(message);
  expect(again.status).toBe(202);
  expect(again.json).toMatchObject({ success: true, conversation: { id: message.id, deliveryStatus: 'queued' } });
  await expect.poll(() => statusOf(message), patience).toBe('failed');
  accept = () => undefined;
  const [one, two] = await Promise.all([resend(message), resend(message)]);
  expect([one.status, two.status].sort()).toEqual([202, 409]);
  await expect.poll(() => statusOf(message), patience).toBe('sent');
  expect((await read(message)).externalConversationId).toBe(message.externalConversationId);
  expect(received(message.externalConversationId)).toHaveLength(1);
  expect((await resend(message)).json).toMatchObject({ status: 409, code: 'message_not_failed' });
});

test('nobody gets a mail twice because another recipient is refused', async () => {
  const { id } = await post();
  const message = await send(id, { to: ['kim@example.com', 'unknown@example.com', 'greylisted@example.com'] });
  await expect.poll(async () => (await documentOf(message.id))?.mail.attempts, patience).toBe(1);
  expect((await documentOf(message.id))?.mail.reached).toEqual(['kim@example.com']);
  expect(await statusOf(message)).toBe('queued');
  await messages().updateOne({ _id: message.id }, { $set: { 'mail.attempts': 6, 'mail.nextAttemptAt': new Date(0) } });
  await expect.poll(() => statusOf(message), patience).toBe('failed');
  await resend(message);
  await expect.poll(async () => (await documentOf(message.id))?.mail.attempts, patience).toBe(1);
  expect(received(message.externalConversationId)).toMatchObject([{ to: ['kim@example.com'] }]);
});

test('without a sender a reply is refused, and a draft is not published', async () => {
  const { id } = await post({ subchannelId: 2 });
  const body = { content: { message: 'Hello', type: 'text' } };
  const reply = (more: object) => tickets.request('POST', path(id, 'reply'), { body: { ...body, ...more } });
  expect((await reply({})).json).toMatchObject({ status: 409, code: 'no_sender' });
  const draft = await reply({ isDraft: true });
  expect(draft.status).toBe(201);
  const publish = () => tickets.request('PATCH', path(id, draft.json.id), { body: { isDraft: false } });
  expect((await publish()).json).toMatchObject({ status: 409, code: 'no_sender' });
  mailFrom = 'desk@shop.example';
  expect((await publish()).status).toBe(200);
  const message = await read({ ticketId: id, id: draft.json.id });
  await expect.poll(() => statusOf(message), patience).toBe('sent');
  expect(received(message.externalConversationId)).toMatchObject([{ from: 'desk@shop.example' }]);
});

test('a mail of a deleted ticket is not sent, and leaves nothing', async () => {
  const { id } = await post();
  const message = await send(id, { to: ['greylisted@example.com'] });
  await expect.poll(async () => (await documentOf(message.id))?.mail.attempts, patience).toBe(1);
  await tickets.database
    .collection<{ _id: number }>('tickets')
    .updateOne({ _id: id }, { $set: { deletedAt: new Date() } });
  await messages().updateOne(
    { _id: message.id },
    { $set: { to: ['kim@example.com'], 'mail.nextAttemptAt': new Date(0) } },
  );
  await expect.poll(async () => (await documentOf(message.id))?.mail.nextAttemptAt > new Date(1), patience).toBe(true);
  await tickets.database.collection<{ _id: number }>('tickets').updateOne({ _id: id }, { $unset: { deletedAt: 1 } });
  await tickets.request('DELETE', `/ticket/${id}`, { caller: { roleId: 1 } });
  expect(await documentOf(message.id)).toBeNull();
  expect(received(message.externalConversationId)).toEqual([]);
});

test('a message that its ticket does not list is not sent', async () => {
  const { id } = await post();
  const message = await send(id, { to: ['greylisted@example.com'] });
  await expect.poll(async () => (await documentOf(message.id))?.mail.attempts, patience).toBe(1);
  const pull = { $pull: { conversationIds: message.id } } as never;
  await tickets.database.collection<{ _id: number }>('tickets').updateOne({ _id: id }, pull);
  await messages().updateOne(
    { _id: message.id },
    { $set: { to: ['kim@example.com'], 'mail.nextAttemptAt': new Date(0) } },
  );
  await expect.poll(async () => (await documentOf(message.id))?.mail.nextAttemptAt > new Date(1), patience).toBe(true);
  expect((await documentOf(message.id))?.mail.attempts).toBe(1);
  expect(received(message.externalConversationId)).toEqual([]);
});

/** A draft as a process leaves it that dies while it publishes the draft. */
async function interruptedDraft(ticketId: number, { publishingUntil = new Date(0), nextAttemptAt = new Date(0) } = {}) {
  const draft = await send(ticketId, { isDraft: true });
  const externalConversationId = `<${randomUUID()}@shop.example>`;
  const ids = tickets.database.collection<{ _id: string }>('externalMessageIds');
  await ids.insertOne({ _id: externalConversationId, ticketId, conversationId: draft.id } as never);
  const mail = { attempts: 0, nextAttemptAt, references: [], reached: [], lastError: null };
  const published = { deliveryStatus: 'queued', externalConversationId, mail, publishingUntil };
  await messages().updateOne({ _id: draft.id }, { $set: published, $inc: { revision: 1 } } as never);
  const isClaimed = async () => (await ids.findOne({ _id: externalConversationId })) !== null;
  return { ...draft, externalConversationId, isClaimed };
}

/** Publishes a draft again, as another process. */
async function publishAgain({ id, ticketId }: { id: number; ticketId: number }, externalConversationId: string) {
  const text = { body: 'Tomorrow.', bodyPlain: 'Tomorrow.', externalConversationId };
  await messages().updateOne({ _id: id }, { $set: text, $inc: { revision: 1 } } as never);
  const move = { $pull: { draftIds: id }, $push: { conversationIds: id } } as never;
  await tickets.database.collection<{ _id: number }>('tickets').updateOne({ _id: ticketId }, move);
}

// guarantee: M4
test('a draft whose publishing was interrupted leaves the queue when its time has passed, and its Message-ID is free', async () => {
  const { id } = await post();
  const later = new Date(Date.now() + 3_600_000);
  const draft = await interruptedDraft(id, { publishingUntil: later });
  // Another process may still publish it.
  await expect.poll(async () => (await documentOf(draft.id))?.mail.nextAttemptAt > new Date(1), patience).toBe(true);
  expect(await documentOf(draft.id)).toMatchObject({ deliveryStatus: 'queued', publishingUntil: later });
  expect(await draft.isClaimed()).toBe(true);
  const over = { publishingUntil: new Date(0), 'mail.nextAttemptAt': new Date(0) };
  await messages().updateOne({ _id: draft.id }, { $set: over });
  await expect.poll(draft.isClaimed, patience).toBe(false);
  const none = { deliveryStatus: 'none', externalConversationId: null, mail: null, publishingUntil: null, lease: null };
  expect(await documentOf(draft.id)).toMatchObject(none);
  expect(received(draft.externalConversationId)).toEqual([]);
  const body = { isDraft: false };
  expect((await tickets.request('PATCH', path(id, draft.id), { body })).status).toBe(200);
  await expect.poll(() => statusOf(draft), patience).toBe('sent');
});

test('a draft that is published again after its mail was claimed is sent as it is now', async () => {
  const { id } = await post();
  let goOn: () => void = () => undefined;
  const draft = await interruptedDraft(id, { nextAttemptAt: new Date(Date.now() + 3_600_000) });
  settingsRead = new Promise((resolve) => {
    goOn = resolve;
  });
  onTestFinished(() => goOn());
  await hurry(draft.id);
  await expect.poll(async () => Boolean((await documentOf(draft.id))?.lease), patience).toBe(true);
  const messageId = `<${randomUUID()}@shop.example>`;
  await publishAgain(draft, messageId);
  goOn();
  await expect.poll(() => statusOf(draft), patience).toBe('sent');
  expect(received(draft.externalConversationId)).toEqual([]);
  expect(received(messageId).map(({ bytes }) => bytes.toString())).toEqual([expect.stringContaining('Tomorrow.')]);
});

test('what becomes of a mail is not stored for another mail of the same message', async () => {
  const { id } = await post();
  const messageId = `<${randomUUID()}@shop.example>`;
  accept = async () => {
    accept = () => undefined;
    await messages().updateOne({ _id: message.id }, { $set: { externalConversationId: messageId } } as never);
  };
  const message = await send(id);
  const isSent = async () => {
    // As if the time of the lease had passed.
    await messages().updateOne({ _id: message.id, 'lease.owner': { $exists: true } } as never, {
      $set: { 'lease.expiresAt': new Date(0) } as never,
    });
    return received(messageId).length > 0;
  };
  await expect.poll(isSent, patience).toBe(true);
  await expect.poll(() => statusOf(message), patience).toBe('sent');
});

test('several processes share the mails, and each is sent once', async () => {
  const others = await Promise.all([tickets.startInstance(), tickets.startInstance()]);
  const { id } = await post();
  const sent = await Promise.all(Array.from({ length: 40 }, () => send(id)));
  for (const message of sent) await expect.poll(() => statusOf(message), patience).toBe('sent');
  expect(sent.map(({ externalConversationId }) => received(externalConversationId).length)).toEqual(
    Array(sent.length).fill(1),
  );
  await Promise.all(others.map((other) => other.stop()));
});

test('the metrics say how many mails wait, and what became of the attempts', async () => {
  const { id } = await post();
  const message = await send(id, { to: ['greylisted@example.com'] });
  await expect.poll(async () => (await documentOf(message.id))?.mail.attempts, patience).toBe(1);
  const metricsOf = async ({ ports }: typeof tickets.running) =>
    (await fetch(`http://127.0.0.1:${ports.internal}/metrics`)).text();
  const withoutMailer = await tickets.startInstance({ TICKETING_TICKETS_ROLES: 'api' });
  expect(await metricsOf(withoutMailer)).toMatch(/^mails_oldest_queued_seconds\S* \d/m);
  await withoutMailer.stop();
  const metrics = await metricsOf(tickets.running);
  expect(Number(/^mails_queued\S* (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  expect(metrics).toMatch(/^mails_oldest_queued_seconds\S* \d/m);
  for (const outcome of ['sent', 'deferred', 'failed']) {
    expect(metrics).toMatch(new RegExp(`^mail_attempts_total\\{.*outcome="${outcome}".*\\} [1-9]`, 'm'));
  }
});

test('looking for mails that are due reads no other message', async () => {
  // The output of explain differs between servers.
  if (process.env.MONGODB_URI) return;
  const isDue = {
    deliveryStatus: 'queued',
    'mail.nextAttemptAt': { $lte: new Date(1) },
    'lease.expiresAt': { $not: { $gt: new Date() } },
  };
  const plan = await messages()
    .find(isDue as never)
    .sort({ 'mail.nextAttemptAt': 1 })
    .explain('executionStats');
  expect(plan.executionStats).toMatchObject({ totalKeysExamined: expect.any(Number), totalDocsExamined: 0 });
  expect(JSON.stringify(plan.queryPlanner.winningPlan)).toContain('"IXSCAN"');
  expect(JSON.stringify(plan.queryPlanner.winningPlan)).not.toContain('"SORT"');
});
