import { create } from '@bufbuild/protobuf';
import { ReceiveMailRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { derivedKey } from '@ticketing/store/paging/derived-key.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { reply as response, type SmtpReceiver, startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { deliveryReports, ordinaryMails } from '../../test/delivery-reports.ts';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { returnAddresses } from '../message/rules/outgoing-mail.ts';
import { conversationCollection } from '../message/schema.ts';
import { defaultSettings } from '../settings.ts';
import type { KnownSubchannel } from '../ticket/rules/subchannels.ts';

let tickets: TicketsHarness;
let server: SmtpReceiver;
let database: Database;
let accept: () => void | Promise<void> = () => undefined;
/** The server refuses addresses that begin with "never" from then on. */
let mayRefuse = Promise.resolve();
const changed: { reopenOnDeliveryFailure?: boolean; returnAddress?: string } = {};
const subchannels = new Map<number, KnownSubchannel>([
  [1, { enabled: true, interface: 'smtp', channel: 1, name: 'Support', address: 'support@example.org' }],
]);
const settings = async () => ({ ...defaultSettings, subchannels, ...changed });

beforeAll(async () => {
  server = await startSmtpReceiver({
    accept: () => accept(),
    onRcptTo({ address }, _session, done) {
      if (!address.startsWith('never')) return done();
      mayRefuse.then(() => done(response(550, '5.1.1 never')));
    },
  });
  tickets = await startHarness({
    variables: { ROLES: 'api,mailer', MAIL_FOLDER: '', SMTP_URL: `smtp://127.0.0.1:${server.port}` },
    settings,
  });
  database = await tickets.openDatabase();
});
afterEach(() => {
  accept = () => undefined;
  delete changed.reopenOnDeliveryFailure;
  delete changed.returnAddress;
});
afterAll(async () => {
  await database.close();
  await tickets.stop();
  await server.close();
});

const kim = 'kim@example.com';
const mailbox = 'support@example.org';
const patience = { timeout: 30_000 };
const call = testCall({ roleId: 1 });
const documents = () => conversationCollection(database.connection);
const signatures = () => returnAddresses(derivedKey(tickets.identity.keys.signingKeyFile('tickets'), 'return address'));
const processNow = () => newProcess(tickets, database, 0, { settings });
const path = (ticketId: number, rest: string | number = '') => `/ticket/${ticketId}/conversation/${rest}`;
const get = async (url: string) => (await tickets.request('GET', url)).json;
const readTicket = async (id: number) => {
  const { prevTicketId: _previous, nextTicketId: _next, ...ticket } = await get(`/ticket/${id}`);
  return ticket;
};
const close = (id: number) => tickets.request('PATCH', `/ticket/${id}`, { body: { status: 'closed' } });
const list = async (ticketId: number) => (await get(path(ticketId).slice(0, -1))).conversations;
const notes = async (ticketId: number) =>
  (await list(ticketId)).filter((one: { private: boolean }) => one.private).map((one: { body: string }) => one.body);
const events = async (id: number) => (await tickets.documentOf(id)).outbox;
const failedEvents = async (id: number) =>
  (await events(id)).filter(({ type }: { type: string }) => type === 'conversation.failed');

interface Message {
  ticketId: number;
  id: number;
  messageId: string;
}

/** A reply that was queued. */
async function replied(to: readonly string[] = [kim]): Promise<Message> {
  const ticket = { channel: 'portal', from: to[0], subject: 'Meter', body: 'Broken.', subchannelId: undefined };
  const { id: ticketId } = (await tickets.request('POST', '/ticket', { body: ticket })).json;
  const body = { content: { message: 'We send someone.', type: 'text' }, subchannelId: 1, to };
  const { json } = await tickets.request('POST', path(ticketId, 'reply'), { body });
  return { ticketId, id: json.id, messageId: json.conversation.externalConversationId };
}

const read = ({ ticketId, id }: Message) => get(path(ticketId, id));
const status = async (message: Message) => (await read(message)).deliveryStatus;

/** A reply that has left. */
async function sent(to?: readonly string[]): Promise<Message> {
  const message = await replied(to);
  await expect.poll(() => status(message), patience).toBe('sent');
  return message;
}

const receive = (mail: string) =>
  processNow().receiveMail(call, create(ReceiveMailRequestSchema, { mail: new Uint8Array(Buffer.from(mail)) }));

let lastReport = 0;

interface Reported {
  recipient?: string;
  action?: string;
  code?: string;
  messageId?: string | null;
  to?: string;
  id?: number;
}

/** A report in the format of RFC 3464. */
function reportAbout(
  message: Pick<Message, 'messageId'>,
  {
    recipient = kim,
    action = 'failed',
    code = '5.1.1',
    messageId = message.messageId,
    to = mailbox,
    id = ++lastReport,
  }: Reported = {},
): string {
  const original =
    messageId === null ? [] : ['--r', 'Content-Type: text/rfc822-headers', '', `Message-ID: ${messageId}`];
  return [
    ...['From: Mail Delivery System <MAILER-DAEMON@mx.example.net>', `To: ${to}`, 'Subject: Undelivered Mail'],
    ...[`Message-ID: <report-${id}@mx.example.net>`, 'Date: Sun, 1 Nov 2026 10:00:00 +0000'],
    ...['Content-Type: multipart/report; report-type=delivery-status; boundary=r', '', '--r', '', 'It failed.'],
    ...['--r', 'Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; mx.example.net', ''],
    ...[`Final-Recipient: rfc822; ${recipient}`, `Action: ${action}`, `Status: ${code}`],
    ...['Diagnostic-Code: smtp; 550 No such user', ...original, '--r--', ''],
  ].join('\r\n');
}

describe('each mail of a mail server ends as it should', () => {
  let number = 0;
  const recipients = [...deliveryReports, ...ordinaryMails].map(() => `kim.${++number}+m=7@example.com`);
  let messages: readonly Message[] = [];
  beforeAll(async () => {
    messages = await Promise.all(recipients.map((recipient) => replied([recipient])));
    for (const message of messages) await vi.waitFor(async () => expect(await status(message)).toBe('sent'), patience);
  });
  const about = (index: number) => {
    const message = messages[index];
    const recipient = recipients[index];
    if (!message || recipient === undefined) throw new Error('there is no such mail');
    return { message, mail: { messageId: message.messageId, recipient, mailbox } };
  };

  test.each(deliveryReports.map((report, index) => ({ ...report, index })))('$name', async (report) => {
    const { message, mail } = about(report.index);
    await close(message.ticketId);
    const before = await readTicket(message.ticketId);
    await receive(report.mail(mail));
    expect(await read(message)).toMatchObject({
      deliveryStatus: report.isFinal ? 'failed' : 'sent',
      deliveryError: { code: report.code, recipient: mail.recipient, text: expect.stringMatching(/\S/) },
    });
    const after = await readTicket(message.ticketId);
    const { version, modifiedAt, status: _, closedAt, ...unchanged } = before;
    expect(after).toMatchObject({
      ...unchanged,
      ...(report.isFinal ? { status: 'open', closedAt: null } : { status: 'closed', closedAt, version: version + 1 }),
    });
    expect((await notes(message.ticketId)).length).toBe(report.isFinal ? 1 : 0);
  });

  test.each(ordinaryMails.map((mail, index) => ({ ...mail, index })))('$name', async (ordinary) => {
    const { message, mail } = about(deliveryReports.length + ordinary.index);
    await receive(ordinary.mail(mail));
    expect(await read(message)).toMatchObject({ deliveryStatus: 'sent', deliveryError: null });
    expect(await notes(message.ticketId)).toEqual([]);
    expect(await failedEvents(message.ticketId)).toEqual([]);
  });
});

test('a recipient who was not reached opens the ticket, with a note and one event', async () => {
  const message = await sent();
  await close(message.ticketId);
  const before = await readTicket(message.ticketId);
  await receive(reportAbout(message));
  expect(await read(message)).toMatchObject({
    deliveryStatus: 'failed',
    deliveryError: { code: '5.1.1', text: '550 No such user', at: expect.any(String), recipient: kim },
  });
  const after = await readTicket(message.ticketId);
  expect(after).toMatchObject({ status: 'open' });
  expect(after.lastCustomerMessageAt).toBe(before.lastCustomerMessageAt);
  expect(after.lastMessageAt).toBe(before.lastMessageAt);
  expect(after.replyRecipients).toEqual(before.replyRecipients);
  expect(await notes(message.ticketId)).toEqual([
    'A message was not delivered to kim@example.com: 5.1.1 550 No such user',
  ]);
  const [event, ...others] = await failedEvents(message.ticketId);
  expect(others).toEqual([]);
  expect(event).toMatchObject({ cause: 'deliveryFailed', conversationId: message.id, actor: { kind: 'service' } });
  expect(event.changes).toContainEqual({ field: 'status', oldValue: 'closed', newValue: 'open' });
  // The report itself is a message of the ticket.
  expect(await list(message.ticketId)).toContainEqual(
    expect.objectContaining({ from: 'MAILER-DAEMON@mx.example.net' }),
  );
});

test('a report that is repeated, and others about the same recipient, change nothing further', async () => {
  const message = await sent();
  const first = reportAbout(message);
  await receive(first);
  await close(message.ticketId);
  await receive(first);
  await receive(reportAbout(message));
  await receive(reportAbout(message, { recipient: 'KIM@Example.COM', code: '5.2.2' }));
  expect(await readTicket(message.ticketId)).toMatchObject({ status: 'closed' });
  expect(await notes(message.ticketId)).toHaveLength(1);
  expect(await failedEvents(message.ticketId)).toHaveLength(1);
  expect((await read(message)).deliveryError.code).toBe('5.1.1');
});

test('a second recipient is noted too, and does not open the ticket again', async () => {
  const message = await sent([kim, 'lee@example.com']);
  await close(message.ticketId);
  await receive(reportAbout(message));
  await close(message.ticketId);
  await receive(reportAbout(message, { recipient: 'lee@example.com', code: '5.2.2' }));
  expect((await readTicket(message.ticketId)).status).toBe('closed');
  expect(await notes(message.ticketId)).toEqual([
    expect.stringContaining(kim),
    expect.stringContaining('lee@example.com: 5.2.2'),
  ]);
  expect(await failedEvents(message.ticketId)).toHaveLength(2);
});

// guarantee: M6
test('a failure that is noted while the ticket is open leaves the opening to the next one', async () => {
  const message = await sent([kim, 'lee@example.com']);
  await receive(reportAbout(message));
  await close(message.ticketId);
  await receive(reportAbout(message, { recipient: 'lee@example.com' }));
  expect((await readTicket(message.ticketId)).status).toBe('open');
});

test('a report about several recipients is one note and one event', async () => {
  const message = await sent([kim, 'lee@example.com', 'max@example.com']);
  const [head = '', tail = ''] = reportAbout(message).split('\r\n--r\r\nContent-Type: text/rfc822-headers');
  const others = ['lee', 'max'].map((name) =>
    ['', '', `Final-Recipient: rfc822; ${name}@example.com`, 'Action: failed', 'Status: 5.2.2'].join('\r\n'),
  );
  await receive(`${head}${others.join('')}\r\n--r\r\nContent-Type: text/rfc822-headers${tail}`);
  expect(await notes(message.ticketId)).toEqual([
    [
      'A message was not delivered to kim@example.com: 5.1.1 550 No such user',
      'A message was not delivered to lee@example.com, max@example.com: 5.2.2',
    ].join('\n'),
  ]);
  expect(await failedEvents(message.ticketId)).toHaveLength(1);
});

test('a forged or foreign report changes no message', async () => {
  const message = await sent();
  const incoming = await sent();
  await receive(
    `From: ${kim}\r\nTo: ${mailbox}\r\nMessage-ID: <own@example.com>\r\nIn-Reply-To: ${incoming.messageId}\r\n\r\nYes.`,
  );
  await receive(reportAbout(message, { messageId: '<unknown@example.org>' }));
  await receive(reportAbout(message, { recipient: 'stranger@example.com' }));
  await receive(reportAbout(message, { messageId: '<own@example.com>' }));
  await receive(reportAbout(message, { messageId: null, to: `support+${message.id}-aaaaaaaa@example.org` }));
  const other = await sent(['lee@example.com']);
  const signed = signatures().make('{name}+{tag}@{domain}', mailbox, other.id);
  await receive(reportAbout(message, { messageId: null, to: signed ?? '' }));
  for (const one of [message, other]) {
    expect(await read(one)).toMatchObject({ deliveryStatus: 'sent', deliveryError: null });
    expect(await failedEvents(one.ticketId)).toEqual([]);
  }
});

test('a report about a message that this system has not sent as a mail changes nothing', async () => {
  const { ticketId } = await sent();
  const externalConversationId = '<recorded@example.org>';
  const body = { direction: 'out', content: { message: 'Sent.', type: 'text' }, to: [kim], externalConversationId };
  const stored = await tickets.request('POST', path(ticketId, 'store'), { body });
  await receive(reportAbout({ messageId: externalConversationId }));
  expect(await get(path(ticketId, stored.json.conversation.id))).toMatchObject({
    deliveryStatus: 'none',
    deliveryError: null,
  });
  expect(await failedEvents(ticketId)).toEqual([]);
});

test('a report about a message of a deleted ticket is a mail of a program', async () => {
  const message = await sent();
  await tickets.request('DELETE', `/ticket/${message.ticketId}`, { caller: { roleId: 1 } });
  const { ticketId } = await receive(reportAbout(message));
  expect(await get(`/ticket/${ticketId}`)).toMatchObject({ spamStatus: 'auto_programmatic' });
});

test('a report about no message of ours is a mail of a program that names the address', async () => {
  const { ticketId } = await receive(reportAbout({ messageId: '<other@example.net>' }));
  expect(await get(`/ticket/${ticketId}`)).toMatchObject({ spamStatus: 'auto_programmatic' });
  expect(JSON.parse((await tickets.documentOf(ticketId)).rawData).failedRecipients).toEqual([kim]);
});

test('a delay is recorded only', async () => {
  const message = await sent();
  await close(message.ticketId);
  await receive(reportAbout(message, { action: 'delayed', code: '4.4.1' }));
  expect(await read(message)).toMatchObject({ deliveryStatus: 'sent', deliveryError: { code: '4.4.1' } });
  expect((await readTicket(message.ticketId)).status).toBe('closed');
  await receive(reportAbout(message));
  await receive(reportAbout(message, { action: 'delayed', code: '4.4.1' }));
  expect(await read(message)).toMatchObject({ deliveryStatus: 'failed', deliveryError: { code: '5.1.1' } });
});

test('the setting reopenOnDeliveryFailure keeps the ticket closed', async () => {
  changed.reopenOnDeliveryFailure = false;
  const message = await sent();
  await close(message.ticketId);
  await receive(reportAbout(message));
  expect(await readTicket(message.ticketId)).toMatchObject({ status: 'closed' });
  expect(await notes(message.ticketId)).toHaveLength(1);
  expect(await failedEvents(message.ticketId)).toHaveLength(1);
});

test('a message that failed is sent again to those whom it has not reached', async () => {
  const message = await sent([kim, 'lee@example.com']);
  await close(message.ticketId);
  await receive(reportAbout(message));
  const before = server.mails.length;
  const again = await tickets.request('POST', path(message.ticketId, `${message.id}/resend`));
  expect(again.status).toBe(202);
  await expect.poll(() => status(message), patience).toBe('sent');
  expect((await read(message)).deliveryError).toBeNull();
  expect(server.mails.slice(before).map(({ to }) => to)).toEqual([[kim]]);
  await close(message.ticketId);
  await receive(reportAbout(message));
  expect(await read(message)).toMatchObject({ deliveryStatus: 'failed' });
  expect((await readTicket(message.ticketId)).status).toBe('closed');
  expect(await failedEvents(message.ticketId)).toHaveLength(2);
});

test('a mail that its server refuses tells the ticket too', async () => {
  const closed = Promise.withResolvers<void>();
  mayRefuse = closed.promise;
  const message = await replied(['never@example.com']);
  await close(message.ticketId);
  closed.resolve();
  await expect.poll(() => failedEvents(message.ticketId), patience).toHaveLength(1);
  expect(await read(message)).toMatchObject({
    deliveryStatus: 'failed',
    deliveryError: { code: '5.1.1', recipient: 'never@example.com' },
  });
  expect((await readTicket(message.ticketId)).status).toBe('open');
  expect(await notes(message.ticketId)).toEqual([expect.stringMatching(/never@example\.com: .*5\.1\.1 never/)]);
});

test('a message that is sent again later shows why, until it is sent', async () => {
  accept = () => Promise.reject(response(451, '4.7.1 greylisted'));
  const message = await replied();
  await expect.poll(async () => (await read(message)).deliveryError, patience).toMatchObject({ code: '4.7.1' });
  expect(await status(message)).toBe('queued');
  accept = () => undefined;
  await documents().updateOne({ _id: message.id }, { $set: { 'mail.nextAttemptAt': new Date(0) } });
  await expect.poll(() => status(message), patience).toBe('sent');
  expect((await read(message)).deliveryError).toBeNull();
});

test('a recipient who failed while others are still queued makes the message fail at its end', async () => {
  let isDeferred = true;
  accept = () => (isDeferred ? Promise.reject(response(451, 'later')) : undefined);
  const message = await replied([kim, 'lee@example.com']);
  await expect.poll(async () => (await read(message)).deliveryError, patience).not.toBeNull();
  await documents().updateOne({ _id: message.id }, { $set: { 'mail.reached': [kim] } });
  await receive(reportAbout(message));
  const attempts = async () => (await documents().findOne({ _id: message.id }))?.mail?.attempts;
  const tryAgain = () => documents().updateOne({ _id: message.id }, { $set: { 'mail.nextAttemptAt': new Date(0) } });
  await tryAgain();
  await expect.poll(attempts, patience).toBe(2);
  expect(await read(message)).toMatchObject({ deliveryStatus: 'queued', deliveryError: { recipient: kim } });
  isDeferred = false;
  const before = server.mails.length;
  await tryAgain();
  await expect.poll(() => status(message), patience).toBe('failed');
  expect(server.mails.slice(before).map(({ to }) => to)).toEqual([['lee@example.com']]);
  expect((await read(message)).deliveryError.recipient).toBe(kim);
  expect(await failedEvents(message.ticketId)).toHaveLength(1);
});

test('a report that arrives before the attempt has ended counts', async () => {
  const reported = Promise.withResolvers<void>();
  accept = () => reported.promise;
  const message = await replied();
  await expect.poll(async () => (await documents().findOne({ _id: message.id }))?.lease, patience).toBeTruthy();
  await receive(reportAbout(message));
  expect(await read(message)).toMatchObject({ deliveryStatus: 'queued', deliveryError: { recipient: kim } });
  reported.resolve();
  await expect.poll(() => status(message), patience).toBe('failed');
  expect(await notes(message.ticketId)).toHaveLength(1);
});

describe('a signed return address', () => {
  const forms = ['{name}+{tag}@{domain}', 'bounces-{tag}@returned.example.org'];
  test.each(forms)('of the form %s finds the message of a report that names no id', async (form) => {
    changed.returnAddress = form;
    const message = await sent();
    const mail = server.mails.find(({ bytes }) => bytes.includes(`Message-ID: ${message.messageId}`));
    expect(mail?.from).toContain(`${message.id}-`);
    expect(mail?.bytes.toString()).toContain(`From: Support <${mailbox}>`);
    const { ticketId } = await receive(reportAbout(message, { messageId: null, to: mail?.from ?? '' }));
    expect(ticketId).toBe(message.ticketId);
    expect(await read(message)).toMatchObject({ deliveryStatus: 'failed' });
    const isReport = { from: 'MAILER-DAEMON@mx.example.net', subchannelId: 1 };
    expect(await list(ticketId)).toContainEqual(expect.objectContaining(isReport));
    // Another mail to it belongs to the ticket, and is no report.
    await receive(`From: x@example.net\r\nTo: ${mail?.from}\r\nAuto-Submitted: auto-replied\r\n\r\nI am away.`);
    expect(await list(ticketId)).toContainEqual(expect.objectContaining({ from: 'x@example.net' }));
  });

  test('is left out where it would be too long', async () => {
    changed.returnAddress = `${'x'.repeat(60)}+{tag}@{domain}`;
    const message = await sent();
    const mail = server.mails.find(({ bytes }) => bytes.includes(`Message-ID: ${message.messageId}`));
    expect(mail?.from).toBe(mailbox);
  });
});

// guarantee: M6
test('a process that dies while it takes a report leaves one note and one event, by the repeated mail or the scheduler', async () => {
  const steps = await crashAtEachWrite(async (nth, when) => {
    const message = await sent();
    await close(message.ticketId);
    const report = reportAbout(message);
    const hasDied = await crashAtWrite(nth, when, () => receive(report));
    await receive(report);
    for (const { name, run } of processNow().tasks) if (name === 'show deliveries') await run();
    expect(await read(message)).toMatchObject({ deliveryStatus: 'failed' });
    expect((await readTicket(message.ticketId)).status).toBe('open');
    expect(await notes(message.ticketId), `${when} write ${nth}`).toHaveLength(1);
    expect(await failedEvents(message.ticketId)).toHaveLength(1);
    expect(await documents().findOne({ _id: message.id, hasFailures: true }), `${when} write ${nth}`).toBeNull();
    return hasDied;
  });
  expect(steps).toBeGreaterThan(5);
});

// guarantee: M6
test('a failure that its process recorded before it died is noted by the schedulers, once', async () => {
  const message = await sent();
  await close(message.ticketId);
  const failure = { id: 'mail 1', at: 1_790_000_000, reasons: [{ code: null, text: 'Gone.', recipient: kim }] };
  await documents().updateOne(
    { _id: message.id },
    { $set: { deliveryStatus: 'failed', hasFailures: true, failures: [failure] } },
  );
  const tasks = [1, 2, 3].flatMap(() => processNow().tasks.filter(({ name }) => name === 'show deliveries'));
  await Promise.all(tasks.map(({ run }) => run()));
  expect(await notes(message.ticketId)).toEqual(['A message was not delivered to kim@example.com: Gone.']);
  expect(await failedEvents(message.ticketId)).toHaveLength(1);
  expect((await readTicket(message.ticketId)).status).toBe('open');
  expect(await documents().findOne({ _id: message.id, hasFailures: { $exists: false } })).toMatchObject({
    failures: [],
  });
});
