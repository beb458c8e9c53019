import { create } from '@bufbuild/protobuf';
import {
  ReceivedMailOutcome,
  ReceiveMailRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { DeleteTicketRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { SettingsAge } from '@ticketing/service-kit/settings/settings-copy.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { defaultSettings } from '../settings.ts';
import { bodyRules } from '../text/rules/body-texts.ts';
import type { KnownSubchannel } from '../ticket/rules/subchannels.ts';
import { maxMessagesBeforeLoop } from './receive.ts';

let tickets: TicketsHarness;
let database: Database;
let isKnown = true;
let embedMailImages = false;
const mailbox = (address: string, changed = {}): KnownSubchannel => ({
  enabled: true,
  interface: 'imap',
  channel: 1,
  address,
  ...changed,
});
const subchannels = new Map<number, KnownSubchannel>([
  [1, mailbox('support@example.org')],
  [2, mailbox('sales@example.org')],
  [3, mailbox('old@example.org', { enabled: false })],
]);

const settings = async (age?: SettingsAge) => {
  if (age === 'owner' && !isKnown) throw new DomainError('unavailable', 'settings_unavailable', 'Not now.');
  return { ...defaultSettings, embedMailImages, subchannels: isKnown ? subchannels : undefined };
};

beforeAll(async () => {
  tickets = await startHarness({ settings });
  database = await tickets.openDatabase();
});
afterEach(() => {
  isKnown = true;
  embedMailImages = false;
  vi.restoreAllMocks();
});
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

const call = testCall({ roleId: 1 });
let lastId = 0;
const newId = () => `<${++lastId}@mail.example.com>`;

interface MailOptions {
  id?: string | null;
  headers?: string;
  subject?: string;
  to?: string;
  body?: string;
  from?: string;
}

function mailOf({
  id = newId(),
  headers = '',
  subject = 'Meter',
  to = 'support@example.org',
  body = 'Hello',
  from = 'Kim <kim@example.com>',
}: MailOptions) {
  const own = id === null ? '' : `Message-ID: ${id}\r\n`;
  const text = `From: ${from}\r\nTo: ${to}\r\nSubject: ${subject}\r\n${own}${headers}\r\n${body}\r\n`;
  return new Uint8Array(Buffer.from(text));
}

const request = (mail: MailOptions | Uint8Array, fields: object = {}) =>
  create(ReceiveMailRequestSchema, { mail: mail instanceof Uint8Array ? mail : mailOf(mail), ...fields });

const outcomes = new Map<ReceivedMailOutcome, string>(
  Object.entries(ReceivedMailOutcome).map(([name, value]) => [value, name]),
);

/** Takes in a mail as another process of the service. */
async function receive(mail: MailOptions | Uint8Array, fields: object = {}) {
  const { ticketId, conversationId, outcome } = await processNow().receiveMail(call, request(mail, fields));
  return { ticketId, conversationId, outcome: outcomes.get(outcome) };
}

const processNow = () => newProcess(tickets, database, 0, { settings });
const list = async (id: number) => (await tickets.request('GET', `/ticket/${id}/conversation`)).json.conversations;
/** Reads a ticket without its neighbours in the queue, which may be a second old. */
async function read(id: number, query = '') {
  const { json } = await tickets.request('GET', `/ticket/${id}${query}`);
  const { prevTicketId: _previous, nextTicketId: _next, ...ticket } = json;
  return ticket;
}
const close = (id: number) => tickets.request('PATCH', `/ticket/${id}`, { body: { status: 'closed' } });
const ticketCount = () => tickets.database.collection('tickets').countDocuments({ deletedAt: { $exists: false } });
const fileCount = () => tickets.database.collection('fileRecords').countDocuments();

test('a mail becomes a ticket, with its first message', async () => {
  const id = newId();
  const headers = 'Cc: Boss <boss@example.com>\r\nReceived: a\r\nReceived: b\r\n';
  const received = await receive({ id, headers, body: 'The meter is broken.' });
  expect(received.outcome).toBe('TICKET_CREATED');
  const ticket = await read(received.ticketId, '?includeRawData=true');
  expect(ticket).toMatchObject({
    channel: 'email',
    direction: 'in',
    status: 'open',
    from: 'kim@example.com',
    fromName: 'Kim',
    to: ['support@example.org'],
    subject: 'Meter',
    body: 'The meter is broken.\n',
    subchannelId: 1,
    spamStatus: null,
    rawData: { messageId: id, headers: { received: ['a', 'b'], 'message-id': id } },
  });
  expect(ticket.replyRecipients.cc).toEqual(['boss@example.com']);
  expect(ticket.lastCustomerMessageAt).toBe(ticket.createdAt);
  expect(await list(received.ticketId)).toMatchObject([
    { id: received.conversationId, direction: 'in', type: 'text', body: 'The meter is broken.\n' },
  ]);
});

test('the reply to a mail of a form goes to the one whom Reply-To names, and the same for a later mail', async () => {
  const headers = 'Reply-To: Support <support@example.org>, Kim <kim@example.com>\r\n';
  const form = { id: newId(), from: 'Form <noreply@web.example>', headers };
  const { ticketId } = await receive(form);
  expect(await read(ticketId)).toMatchObject({
    from: 'noreply@web.example',
    replyRecipients: { to: ['kim@example.com'], cc: [] },
  });
  await receive({
    from: 'Kim <kim@example.com>',
    headers: `In-Reply-To: ${form.id}\r\nReply-To: kim@home.example\r\n`,
  });
  expect((await read(ticketId)).replyRecipients.to).toEqual(['kim@home.example']);
  await receive({ from: 'kim@home.example', headers: `In-Reply-To: ${form.id}\r\n` });
  expect((await read(ticketId)).replyRecipients.to).toEqual(['kim@home.example']);
});

test('no reply is recommended to our own mailboxes', async () => {
  const headers = 'Cc: Boss <boss@example.com>, SUPPORT+meter@Example.org\r\n';
  const { ticketId } = await receive({ id: newId(), headers, to: 'support@example.org' });
  expect((await read(ticketId)).replyRecipients).toEqual({
    to: ['kim@example.com'],
    cc: ['boss@example.com'],
    bcc: [],
  });
  const body = { content: { message: 'Soon.', type: 'text' } };
  const { json } = await tickets.request('POST', `/ticket/${ticketId}/conversation/reply`, { body });
  expect(json.conversation).toMatchObject({ to: ['kim@example.com'], cc: ['boss@example.com'] });
});

test('a stranger who names a message id writes to the ticket, but no reply goes to him', async () => {
  const id = newId();
  const { ticketId } = await receive({ id, headers: 'Cc: Boss <boss@example.com>\r\n' });
  const recipients = async () => (await read(ticketId)).replyRecipients;
  const before = await recipients();
  await close(ticketId);
  const headers = `In-Reply-To: ${id}\r\n`;
  const strange = { from: 'eve@evil.org', headers: `${headers}Cc: victim@target.org\r\n` };
  expect(await receive(strange)).toMatchObject({ ticketId, outcome: 'MESSAGE_ADDED' });
  expect(await recipients()).toEqual(before);
  expect(await read(ticketId)).toMatchObject({ status: 'open' });
  // A sender who has written in this way is no participant either.
  await receive(strange);
  const forged = processNow()
    .ticketTokens.mark('Re', ticketId)
    .replace(/-[a-z2-7]{8}/, '-aaaaaaaa');
  await receive({ ...strange, subject: forged });
  const other = await receive({});
  await receive({ ...strange, subject: processNow().ticketTokens.mark('Re', other.ticketId) });
  // Our own mailbox is among the recipients of each mail.
  for (const others of ['Reply-To: eve@evil.org\r\n', 'Cc: eve@evil.org\r\n']) {
    await receive({ from: 'support@example.org', headers: `${headers}${others}` });
  }
  expect(await recipients()).toEqual(before);
  expect(await list(ticketId)).toHaveLength(7);
  await receive({ from: 'BOSS@example.com', headers });
  expect(await recipients()).toEqual({ to: ['BOSS@example.com'], cc: [], bcc: [] });
  const subject = processNow().ticketTokens.mark('Re', ticketId);
  await receive({ from: 'colleague@example.com', headers, subject });
  expect(await recipients()).toEqual({ to: ['colleague@example.com'], cc: [], bcc: [] });
});

test('a mail that is a text stays a text when newer rules make its texts again', async () => {
  const { ticketId } = await receive({ id: newId(), body: 'Is <b>3</b> right?' });
  const before = await read(ticketId);
  expect(before.bodyPlain).toBe('Is <b>3</b> right?');
  const old = { bodyRules: bodyRules - 1, bodyHtml: 'old', bodyPlain: 'old', bodyClean: 'old' };
  await tickets.database.collection<{ _id: number }>('tickets').updateOne({ _id: ticketId }, { $set: old });
  expect(await read(ticketId)).toEqual(before);
  expect(await list(ticketId)).toMatchObject([{ type: 'text', bodyPlain: before.bodyPlain }]);
});

test('an answer becomes a message of the ticket, and opens it', async () => {
  const id = newId();
  const { ticketId } = await receive({ id });
  await close(ticketId);
  const answer = await receive({
    headers: `In-Reply-To: ${id}\r\nContent-Type: text/html\r\n`,
    subject: 'Re: Meter',
    to: 'sales@example.org',
    body: '<p>Thank you</p>',
  });
  expect(answer).toMatchObject({ ticketId, outcome: 'MESSAGE_ADDED' });
  expect(await read(ticketId)).toMatchObject({ status: 'open', subchannelId: 1 });
  const [, message] = await list(ticketId);
  expect(message).toMatchObject({
    id: answer.conversationId,
    direction: 'in',
    type: 'html',
    body: expect.stringContaining('<p>Thank you</p>'),
    subchannelId: 2,
    from: 'kim@example.com',
  });
  const stored = await tickets.documentOf(ticketId);
  expect(stored.outbox.at(-1)).toMatchObject({ type: 'conversation.created' });
});

describe('a thread is found', () => {
  test('by any of the references, the nearest first', async () => {
    const [first, second] = [newId(), newId()];
    const one = await receive({ id: first });
    const two = await receive({ id: second });
    const near = await receive({ headers: `References: ${first} <none@x.org> ${second}\r\n` });
    expect(near.ticketId).toBe(two.ticketId);
    const byReply = await receive({ headers: `References: ${second}\r\nIn-Reply-To: ${first}\r\n` });
    expect(byReply.ticketId).toBe(one.ticketId);
    const byAnswer = newId();
    await receive({ id: byAnswer, headers: `References: ${first}\r\n` });
    expect((await receive({ headers: `In-Reply-To: ${byAnswer}\r\n` })).ticketId).toBe(one.ticketId);
  });

  test('by an id without brackets, or with those of HTML', async () => {
    const id = newId();
    const { ticketId } = await receive({ id });
    const bare = id.slice(1, -1);
    for (const value of [bare, `&lt;${bare}&gt;`, `(was ${bare}) ${bare}`]) {
      expect((await receive({ headers: `In-Reply-To: ${value}\r\n` })).ticketId).toBe(ticketId);
      expect((await receive({ headers: `References: x@y.org ${value}\r\n` })).ticketId).toBe(ticketId);
    }
  });

  test('by the message id of a message that was sent', async () => {
    const { ticketId } = await receive({});
    const path = `/ticket/${ticketId}/conversation/reply`;
    const body = { content: { message: 'We come.', type: 'text' }, to: ['kim@example.com'] };
    const { json } = await tickets.request('POST', path, { body });
    const sent = json.conversation.externalConversationId;
    expect(await receive({ headers: `In-Reply-To: ${sent}\r\n` })).toMatchObject({
      ticketId,
      outcome: 'MESSAGE_ADDED',
    });
    const before = await ticketCount();
    const from = json.conversation.from;
    expect(await receive({ id: sent, from })).toMatchObject({ ticketId, outcome: 'ALREADY_KNOWN' });
    expect(await ticketCount()).toBe(before);
  });

  test('by an id that a stranger has repeated: the ticket of the first message that has it', async () => {
    const opening = newId();
    const { ticketId } = await receive({ id: opening });
    const body = { content: { message: 'We come.', type: 'text' } };
    const { json } = await tickets.request('POST', `/ticket/${ticketId}/conversation/reply`, { body });
    for (const id of [opening, json.conversation.externalConversationId]) {
      expect((await receive({ id, from: 'eve@example.net' })).ticketId).not.toBe(ticketId);
      expect((await receive({ headers: `In-Reply-To: ${id}\r\n` })).ticketId).toBe(ticketId);
    }
  });

  test('by the token in the subject, if it is signed', async () => {
    const { ticketId } = await receive({});
    const { ticketTokens } = processNow();
    const subject = ticketTokens.mark('Re: Meter', ticketId);
    expect(await receive({ subject })).toMatchObject({ ticketId, outcome: 'MESSAGE_ADDED' });
    const forged = subject.replace(/-[a-z2-7]{8}/, '-aaaaaaaa');
    expect((await receive({ subject: forged })).outcome).toBe('TICKET_CREATED');
    const other = await receive({});
    const byReference = newId();
    const elsewhere = await receive({ id: byReference });
    const both = { subject: ticketTokens.mark('x', other.ticketId), headers: `In-Reply-To: ${byReference}\r\n` };
    expect((await receive(both)).ticketId).toBe(elsewhere.ticketId);
  });

  test('not with a deleted ticket, nor with one that has too many messages: then a ticket is created', async () => {
    const id = newId();
    const { ticketId } = await receive({ id });
    const subject = processNow().ticketTokens.mark('Re', ticketId);
    await tickets.database
      .collection<{ _id: number }>('tickets')
      .updateOne({ _id: ticketId }, { $set: { conversationIds: Array.from({ length: 10_000 }, (_, at) => -at - 1) } });
    expect((await receive({ headers: `In-Reply-To: ${id}\r\n` })).outcome).toBe('TICKET_CREATED');
    await processNow().deleteTicket(call, create(DeleteTicketRequestSchema, { ticketId }));
    expect((await receive({ headers: `In-Reply-To: ${id}\r\n` })).outcome).toBe('TICKET_CREATED');
    expect((await receive({ subject })).outcome).toBe('TICKET_CREATED');
    const again = await receive({ id });
    expect(again.outcome).toBe('TICKET_CREATED');
    expect(again.ticketId).not.toBe(ticketId);
  });
});

const dated = 'Date: Tue, 03 Mar 2026 09:15:00 +0100\r\n';

describe('a mail that is received again', () => {
  test('is known by its id and content, whatever its trace says, also as an answer, and changes nothing', async () => {
    const [id, answerId] = [newId(), newId()];
    const first = await receive({ id, headers: dated });
    const answer = { id: answerId, headers: `In-Reply-To: ${id}\r\n${dated}` };
    const added = await receive(answer);
    await close(first.ticketId);
    const before = await read(first.ticketId);
    const trace = 'Received: by mx2\r\nDelivered-To: x@y.org\r\nX-Spam-Score: 3\r\n';
    const again = { id, headers: `${trace}${dated}`, from: 'Kim O. <KIM@example.com>' };
    expect(await receive(again)).toEqual({ ...first, outcome: 'ALREADY_KNOWN' });
    expect(await receive({ ...answer, headers: `${trace}${answer.headers}` })).toEqual({
      ...added,
      outcome: 'ALREADY_KNOWN',
    });
    expect(await read(first.ticketId)).toEqual(before);
  });

  test.each([
    ['subject', { subject: 'Package 2 is broken' }],
    ['text', { body: 'Package 2 is broken' }],
    ['date', { headers: 'Date: Wed, 11 Mar 2026 09:15:00 +0100\r\n' }],
    ['sender', { from: 'two@example.net' }],
    ['file', { headers: `${dated}Content-Type: application/x-y; name=a\r\n` }],
  ])('is another mail with another %s, and known as such', async (_, changed) => {
    const id = newId();
    const opening = await receive({ id, headers: dated });
    const other = await receive({ id, headers: dated, ...changed });
    expect(other.outcome).toBe('TICKET_CREATED');
    expect(other.ticketId).not.toBe(opening.ticketId);
    const third = await receive({ id, headers: dated, ...changed, body: 'a third one' });
    expect(third.outcome).toBe('TICKET_CREATED');
    expect(await receive({ id, headers: dated })).toEqual({ ...opening, outcome: 'ALREADY_KNOWN' });
    expect(await receive({ id, headers: dated, ...changed })).toEqual({ ...other, outcome: 'ALREADY_KNOWN' });
    const fourth = { id, headers: dated, ...changed, body: 'a fourth one' };
    expect((await receive(fourth)).outcome).toBe('TICKET_CREATED');
    expect((await receive(fourth)).outcome).toBe('ALREADY_KNOWN');
    const answerId = newId();
    const headers = `In-Reply-To: ${id}\r\n`;
    const answer = await receive({ id: answerId, headers: `${dated}${headers}` });
    const answers = { id: answerId, headers: `${dated}${headers}`, body: 'another answer' };
    const added = await receive(answers);
    expect(answer.ticketId).toBe(opening.ticketId);
    expect(added).toMatchObject({ ticketId: answer.ticketId, outcome: 'MESSAGE_ADDED' });
    expect(added.conversationId).not.toBe(answer.conversationId);
    expect(await receive(answers)).toEqual({ ...added, outcome: 'ALREADY_KNOWN' });
  });

  test('is known by all of its bytes if it has no date', async () => {
    const first = await receive({ id: null, body: 'one' });
    expect(await receive({ id: null, body: 'one' })).toEqual({ ...first, outcome: 'ALREADY_KNOWN' });
    expect((await receive({ id: null, body: 'two' })).outcome).toBe('TICKET_CREATED');
    expect((await receive({ id: null, body: 'one', headers: 'Received: x\r\n' })).outcome).toBe('TICKET_CREATED');
    const withDate = { id: null, body: 'one', headers: dated };
    const second = await receive(withDate);
    expect(second.outcome).toBe('TICKET_CREATED');
    expect(await receive({ ...withDate, headers: `Received: x\r\n${dated}` })).toEqual({
      ...second,
      outcome: 'ALREADY_KNOWN',
    });
  });

  test('by another mailbox becomes a ticket there, and the answers to it find the ticket of their mailbox', async () => {
    const id = newId();
    const both = { id, headers: dated, to: 'support@example.org, sales@example.org' };
    const response = await processNow().receiveMail(call, request(both));
    expect(response.otherTicketIds).toHaveLength(1);
    const [sales = 0] = response.otherTicketIds;
    expect(await read(response.ticketId)).toMatchObject({ subchannelId: 1 });
    expect(await read(sales)).toMatchObject({ subchannelId: 2, body: 'Hello\n' });
    expect(await receive(both, { subchannelId: 2 })).toMatchObject({ ticketId: sales, outcome: 'ALREADY_KNOWN' });
    const answer = (to: string) => receive({ to, headers: `In-Reply-To: ${id}\r\n` });
    expect((await answer('sales@example.org')).ticketId).toBe(sales);
    expect((await answer('support@example.org')).ticketId).toBe(response.ticketId);
  });

  test('by another mailbox is known if it answers a ticket', async () => {
    const id = newId();
    const { ticketId } = await receive({ id });
    const answer = { id: newId(), headers: `${dated}In-Reply-To: ${id}\r\n` };
    const received = await Promise.all([1, 2, 1, 2].map((subchannelId) => receive(answer, { subchannelId })));
    expect(new Set(received.map((one) => one.conversationId)).size).toBe(1);
    expect(await list(ticketId)).toHaveLength(2);
  });

  test.each(['without an id', 'with the id of another mail'])(
    'by two mailboxes %s is one message of the ticket that it answers',
    async (kind) => {
      const id = newId();
      const { ticketId } = await receive({ id });
      const taken = kind === 'without an id' ? null : newId();
      if (taken !== null) await receive({ id: taken, from: 'eve@example.net' });
      const answer = {
        id: taken,
        headers: `${dated}In-Reply-To: ${id}\r\n`,
        to: 'support@example.org, sales@example.org',
      };
      for (let times = 0; times < 2; times++) {
        const { otherTicketIds } = await processNow().receiveMail(call, request(answer));
        expect(otherTicketIds).toEqual([ticketId]);
        expect(await list(ticketId)).toHaveLength(2);
      }
    },
  );

  test('is not known by the id of a note', async () => {
    const id = newId();
    const { ticketId } = await receive({});
    const note = { content: { message: 'x', type: 'text' }, direction: 'internal', private: true };
    const path = `/ticket/${ticketId}/conversation/store`;
    expect((await tickets.request('POST', path, { body: { ...note, externalConversationId: id } })).status).toBe(201);
    expect((await receive({ id })).outcome).toBe('TICKET_CREATED');
  });

  test.each(['a new ticket', 'an answer'])(
    'at the same time as one of another sender becomes %s of its own',
    async (kind) => {
      const opening = newId();
      const { ticketId } = await receive({ id: opening });
      const headers = kind === 'an answer' ? `In-Reply-To: ${opening}\r\n` : '';
      const id = newId();
      const senders = Array.from({ length: 6 }, (_, at) => `s${at % 3}@example.net`);
      const results = await Promise.all(senders.map((from) => receive({ id, headers, from, body: from })));
      const ids = results.map(({ conversationId }) => conversationId);
      expect(new Set(ids).size).toBe(3);
      expect(ids.slice(3)).toEqual(ids.slice(0, 3));
      const received = await Promise.all(
        results.map(async (one) => {
          const messages = await list(one.ticketId);
          return messages.find((message: { id: number }) => message.id === one.conversationId).body.trim();
        }),
      );
      expect(received).toEqual(senders);
      expect(results.every((one) => (one.ticketId === ticketId) === (kind === 'an answer'))).toBe(true);
    },
  );

  test('at the same time by several processes becomes one ticket', async () => {
    const mail = mailOf({});
    const before = await ticketCount();
    const results = await Promise.all(Array.from({ length: 8 }, () => receive(mail)));
    expect(new Set(results.map(({ ticketId }) => ticketId)).size).toBe(1);
    expect(results.filter(({ outcome }) => outcome === 'TICKET_CREATED')).toHaveLength(1);
    expect(await ticketCount()).toBe(before + 1);
  });
});

const withFile = (headers: string) =>
  mailOf({
    headers: `${headers}Content-Type: multipart/mixed; boundary=b\r\n`,
    body: '--b\r\n\r\ntext\r\n--b\r\nContent-Type: application/pdf; name=a.pdf\r\n\r\n%PDF-1.4 x\r\n--b--',
  });

describe('files', () => {
  test('are attached to the ticket or to the message', async () => {
    const id = newId();
    const created = await receive(
      mailOf({
        id,
        headers: 'Content-Type: multipart/mixed; boundary=b\r\n',
        body: '--b\r\n\r\ntext\r\n--b\r\nContent-Type: application/pdf; name=a.pdf\r\n\r\n%PDF-1.4 x\r\n--b--',
      }),
    );
    expect((await read(created.ticketId)).attachments).toMatchObject([{ name: 'a.pdf', inline: false }]);
    const added = await receive(withFile(`In-Reply-To: ${id}\r\n`));
    const message = (await list(created.ticketId)).at(-1);
    expect(message).toMatchObject({ id: added.conversationId, attachments: [{ name: 'a.pdf' }] });
  });

  describe('which the text shows', () => {
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const picture = (headers = '') =>
      mailOf({
        headers: `${headers}Content-Type: multipart/related; boundary=b\r\n`,
        body: [
          ...['--b', 'Content-Type: text/html', '', '<p>Here:</p><img src="cid:One@x">', '--b'],
          ...['Content-Type: image/png; name=p.png', 'Content-ID: <one@x>', 'Content-Transfer-Encoding: base64', ''],
          ...[pixel, '--b--'],
        ].join('\r\n'),
      });

    test('are found by their paths in the text, of a ticket and of a message', async () => {
      const { ticketId } = await receive(picture());
      const [{ attachments }] = await list(ticketId);
      expect(attachments).toMatchObject([{ name: 'p.png', inline: true, contentId: 'one@x' }]);
      const [{ url }] = attachments;
      const html = `<p>Here:</p><img src="${url}" />`;
      expect((await read(ticketId)).body.trim()).toBe(html);
      expect((await list(ticketId))[0].body.trim()).toBe(html);
      expect((await tickets.request('GET', url)).bytes.toString('base64')).toBe(pixel);
    });

    test('stand in the text itself if a setting says so', async () => {
      embedMailImages = true;
      const { ticketId } = await receive(picture());
      expect((await read(ticketId)).body.trim()).toBe(`<p>Here:</p><img src="data:image/png;base64,${pixel}" />`);
    });
  });

  test('may be more than a request can have', async () => {
    const part = '--b\r\nContent-Type: application/x-y; name=a.bin\r\n\r\nx\r\n';
    const headers = 'Content-Type: multipart/mixed; boundary=b\r\n';
    const { ticketId } = await receive({ headers, body: `${part.repeat(45)}--b--` });
    expect((await read(ticketId)).attachments).toHaveLength(45);
  });

  test('of a mail that is known are not stored', async () => {
    const mail = withFile('');
    await receive(mail);
    const before = await fileCount();
    await receive(mail);
    await Promise.all([receive(mail), receive(mail)]);
    expect(await fileCount()).toBe(before);
  });
});

describe('the mailbox', () => {
  test('is the one that is given, else that of the first recipient that has one', async () => {
    const subchannelOf = async (mail: MailOptions, fields = {}) =>
      (await read((await receive(mail, fields)).ticketId)).subchannelId;
    expect(await subchannelOf({ to: 'x@y.org, Sales <SALES+kim@example.org>, support@example.org' })).toBe(2);
    expect(await subchannelOf({ to: 'x@y.org', headers: 'Cc: support@example.org\r\n' })).toBe(1);
    expect(await subchannelOf({ to: 'old@example.org' })).toBeNull();
    expect(await subchannelOf({ to: 'sales@example.org' }, { subchannelId: 1 })).toBe(1);
  });

  test('that is given must be known and enabled', async () => {
    await expect(receive({}, { subchannelId: 9 })).rejects.toMatchObject({ reason: 'unknown_subchannel' });
    await expect(receive({}, { subchannelId: 3 })).rejects.toMatchObject({ reason: 'subchannel_disabled' });
    isKnown = false;
    await expect(receive({}, { subchannelId: 1 })).rejects.toMatchObject({ reason: 'settings_unavailable' });
  });
});

test('a mail counts as received now, or at its date, which is never in the future', async () => {
  const at = (date: string) => ({ headers: `Date: ${date}\r\n` });
  const createdAt = async (mail: MailOptions, keepDate: boolean) => {
    const { ticketId } = await receive(mail, { keepDate });
    return Date.parse(`${(await read(ticketId)).createdAt.replace(' ', 'T')}Z`);
  };
  const old = at('Thu, 22 Aug 2002 12:46:18 +0200');
  expect(await createdAt(old, true)).toBe(Date.UTC(2002, 7, 22, 10, 46, 18));
  const times = [await createdAt({}, false)];
  for (const mail of [at('Thu, 22 Aug 2099 12:46:18 +0200'), at('1 Jan 1960 00:00:00 GMT'), at('never')]) {
    times.push(await createdAt(mail, true));
  }
  times.push(await createdAt(old, false), await createdAt({}, true));
  expect(times).toEqual(times.toSorted((left, right) => left - right));
});

describe('a mail of a program', () => {
  const automatic = 'Auto-Submitted: auto-replied\r\n';

  // spec: 5.1
  test('creates a ticket that is programmatic, and opens none', async () => {
    const id = newId();
    const created = await receive({ id, headers: automatic });
    expect(await read(created.ticketId)).toMatchObject({
      ...{ spamStatus: 'auto_programmatic', lastCustomerMessageAt: null, lastMessageAt: expect.any(String) },
    });
    expect(await tickets.documentOf(created.ticketId)).toMatchObject({
      incomingMessages: 0,
      openingMessageId: created.conversationId,
    });
    await close(created.ticketId);
    const answer = await receive({ headers: `In-Reply-To: ${id}\r\n${automatic}` });
    expect(answer).toMatchObject({ ticketId: created.ticketId, outcome: 'MESSAGE_ADDED' });
    expect((await read(created.ticketId)).status).toBe('closed');
  });

  test.each([
    ['an absence note with our token', 'Re: Meter', { headers: automatic, from: 'lee@example.com' }],
    [
      'a report of a mail server',
      'Undeliverable: Re: Meter',
      { headers: 'Content-Type: multipart/report; boundary=b\r\n', from: 'postmaster@mx.example' },
    ],
    ['one with a null return path', 'failure notice', { headers: 'Return-Path: <>\r\n' }],
  ])('%s changes nothing of the ticket but its messages', async (_, subject, mail) => {
    const id = newId();
    const { ticketId } = await receive({ id, headers: `${dated}Cc: lee@example.com\r\n` });
    await close(ticketId);
    const before = await read(ticketId);
    const token = processNow().ticketTokens.mark(subject, ticketId);
    expect(await receive({ ...mail, subject: token })).toMatchObject({ ticketId, outcome: 'MESSAGE_ADDED' });
    const { version: _version, modifiedAt: _modifiedAt, ...after } = await read(ticketId);
    expect(before).toMatchObject(after);
    expect(after.replyRecipients).toEqual({ to: ['kim@example.com'], cc: ['lee@example.com'], bcc: [] });
    expect(await list(ticketId)).toHaveLength(2);
  });

  test('is not answered: the next mail answers the last one of a person, in its thread', async () => {
    const ids = [newId(), newId(), newId(), newId()] as const;
    const { ticketId } = await receive({ id: ids[1], headers: `References: <before@x.org> ${ids[0]}\r\n` });
    const reply = async () => {
      const body = { content: { message: 'We come.', type: 'text' } };
      const { json } = await tickets.request('POST', `/ticket/${ticketId}/conversation/reply`, { body });
      const { mail } = (await tickets.database
        .collection<{ _id: number; mail: { references: string[] } }>('conversations')
        .findOne({ _id: json.id })) ?? { mail: undefined };
      return { id: json.conversation.externalConversationId as string, references: mail?.references };
    };
    await receive({ id: ids[2], headers: `In-Reply-To: ${ids[1]}\r\n${automatic}` });
    const first = await reply();
    expect(first.references).toEqual(['<before@x.org>', ids[0], ids[1]]);
    await receive({ id: ids[3], headers: `In-Reply-To: ${first.id}\r\nReferences: ${ids[1]} ${first.id}\r\n` });
    const second = await reply();
    expect(second.references).toEqual([ids[1], first.id, ids[3]]);
    expect((await reply()).references).toEqual([ids[1], first.id, ids[3], second.id]);
  });

  test('is not answered if no person has written a mail', async () => {
    const reply = async (ticketId: number) => {
      const body = { content: { message: 'We come.', type: 'text' }, to: ['kim@example.com'] };
      const { json } = await tickets.request('POST', `/ticket/${ticketId}/conversation/reply`, { body });
      return tickets.database.collection<{ _id: number }>('conversations').findOne({ _id: json.id });
    };
    const { ticketId } = await receive({ headers: automatic });
    expect(await reply(ticketId)).toMatchObject({ mail: { references: [] } });
    const body = { channel: 'email', from: 'kim@example.com', subject: 'Meter', body: 'x', subchannelId: 1 };
    const { json } = await tickets.request('POST', '/ticket', { body });
    const subject = processNow().ticketTokens.mark('failure', json.id);
    expect(await receive({ subject, headers: automatic })).toMatchObject({ ticketId: json.id });
    expect(await reply(json.id)).toMatchObject({ mail: { references: [] } });
  });

  // spec: 5.4
  test('leaves the status that a person has set', async () => {
    const id = newId();
    const { ticketId } = await receive({ id });
    await tickets.request('PATCH', '/ticket', { body: [{ id: ticketId, spamStatus: 'manual_clean' }] });
    await receive({ headers: `In-Reply-To: ${id}\r\n${automatic}` });
    expect((await read(ticketId)).spamStatus).toBe('manual_clean');
  });

  // guarantee: I13
  test('is refused as a loop when its ticket got many messages in an hour; one of a person is not', async () => {
    const id = newId();
    const { ticketId } = await receive({ id });
    const headers = `In-Reply-To: ${id}\r\n${automatic}`;
    for (let sent = 0; sent < maxMessagesBeforeLoop; sent++) {
      expect((await receive({ headers })).ticketId).toBe(ticketId);
    }
    await expect(receive({ headers })).rejects.toMatchObject({ reason: 'mail_loop' });
    expect(await receive({ headers: `In-Reply-To: ${id}\r\n` })).toMatchObject({ ticketId });
    const old = { headers: `${headers}Date: Thu, 22 Aug 2002 12:46:18 +0200\r\n` };
    expect(await receive(old, { keepDate: true })).toMatchObject({ ticketId });
    await tickets.database
      .collection('conversations')
      .updateMany({ ticketId }, { $set: { createdAt: new Date(Date.now() - 3_700_000) } });
    expect(await receive({ headers })).toMatchObject({ ticketId });
  });
});

// spec: 5.2, 21.21
test('a ticket of POST /ticket is programmatic by the headers in its raw data', async () => {
  const post = async (rawData: object) =>
    (await tickets.request('POST', '/ticket', { body: { channel: 'email', rawData } })).json.spamStatus;
  expect(await post({ headers: { PRECEDENCE: ['x', 'list'] } })).toBe('auto_programmatic');
  expect(await post({ headers: { Precedence: 'first-class' } })).toBeNull();
});

describe('a loop is refused', () => {
  // guarantee: I13
  test('with the mark that this system puts on its mails', async () => {
    const { ticketId } = await receive({});
    const mark = processNow().ticketTokens.mark('', ticketId);
    const headers = `X-Ticketing-Ticket: ${mark}\r\n`;
    for (const repeated of [headers, `${headers}${headers}`, `X-Ticketing-Ticket: x\r\n${headers}`]) {
      await expect(receive({ headers: repeated })).rejects.toMatchObject({ reason: 'mail_loop' });
    }
    const forged = `X-Ticketing-Ticket: ${mark.replace(/-[a-z2-7]{8}/, '-aaaaaaaa')}\r\n`;
    expect((await receive({ headers: forged })).outcome).toBe('TICKET_CREATED');
  });

  // guarantee: I13
  test('after 100 hops', async () => {
    const hops = (count: number) => ({ headers: 'Received: x\r\n'.repeat(count) });
    expect((await receive(hops(100))).outcome).toBe('TICKET_CREATED');
    await expect(receive(hops(101))).rejects.toMatchObject({ reason: 'mail_loop' });
  });
});

test('a mail that cannot be read is refused with the reason, by RPC too', async () => {
  await expect(receive(new Uint8Array())).rejects.toMatchObject({ reason: 'invalid_mail' });
  const headers = {
    authorization: `Bearer ${await tickets.identity.internalToken('tickets', testCaller())}`,
    'content-type': 'application/json',
  };
  const url = `${tickets.url}/ticketing.tickets.v1.MailService/ReceiveMail`;
  const send = async (mail: Uint8Array) => {
    const body = JSON.stringify({ mail: Buffer.from(mail).toString('base64') });
    const response = await fetch(url, { method: 'POST', headers, body });
    return [response.status, JSON.parse(await response.text())] as const;
  };
  const [status, problem] = await send(Buffer.from('no mail'));
  expect([status, problem.code]).toEqual([400, 'invalid_argument']);
  expect(JSON.stringify(problem)).toContain('no sender');
  const [success, received] = await send(mailOf({}));
  expect([success, received.outcome]).toEqual([200, 'RECEIVED_MAIL_OUTCOME_TICKET_CREATED']);
});

test.each(['a new ticket', 'an answer'])(
  // guarantee: F13
  'a mail whose process dies between any two writes, and which is received again, becomes %s exactly once',
  async (kind) => {
    const steps = await crashAtEachWrite(async (nth, when) => {
      const id = newId();
      const headers = kind === 'an answer' ? `In-Reply-To: ${id}\r\n` : '';
      const ticket = kind === 'an answer' ? await receive({ id }) : undefined;
      const mail = withFile(headers);
      const before = await ticketCount();
      const hasDied = await crashAtWrite(nth, when, () => processNow().receiveMail(call, request(mail)));
      const again = await receive(mail);
      expect((await receive(mail)).outcome).toBe('ALREADY_KNOWN');
      const messages = await list(again.ticketId);
      expect(await ticketCount()).toBe(before + (ticket ? 0 : 1));
      expect(messages).toHaveLength(ticket ? 2 : 1);
      expect(messages.at(-1).id).toBe(again.conversationId);
      const { outbox, version } = await tickets.documentOf(again.ticketId);
      expect(outbox.map((event: { version: number }) => event.version)).toEqual(
        messages.map((_: unknown, at: number) => at + 1),
      );
      expect(version).toBe(messages.length);
      const shown = ticket ? messages.at(-1).attachments : (await read(again.ticketId)).attachments;
      expect(shown).toHaveLength(1);
      const file = await tickets.request('GET', `/ticket/${again.ticketId}/attachment/${shown[0].id}`);
      expect(file.status).toBe(200);
      for (const { run } of processNow().tasks) await run();
      return hasDied;
    });
    expect(steps).toBeGreaterThanOrEqual(4);
  },
);

// guarantee: M4
test('a mail whose process dies, and which is never received again, leaves nothing but its ticket', async () => {
  const claims = () => tickets.database.collection<{ _id: string }>('externalMessageIds');
  const seen = new Set<boolean>();
  await crashAtEachWrite(async (nth, when) => {
    const id = newId();
    const before = await ticketCount();
    const hasDied = await crashAtWrite(nth, when, () => processNow().receiveMail(call, request({ id })));
    const isCreated = (await ticketCount()) > before;
    seen.add(isCreated);
    const later = { ...newProcess(tickets, database, 2), settings };
    // The scheduler lets ten minutes pass first, in which the mail may be received again.
    for (const { run } of later.tasks) await run();
    const isUnseen = { _id: id, unseenSince: { $exists: true } };
    const claimed = await claims().countDocuments({ _id: id });
    expect(await claims().countDocuments(isUnseen), `${when} write ${nth}`).toBe(claimed);
    await claims().updateOne(isUnseen, { $set: { unseenSince: new Date(0) } });
    for (const { run } of later.tasks) await run();
    expect(await claims().countDocuments({ _id: id }), `${when} write ${nth}`).toBe(isCreated ? 1 : 0);
    expect(await claims().countDocuments(isUnseen)).toBe(0);
    expect((await receive({ id })).outcome).toBe(isCreated ? 'ALREADY_KNOWN' : 'TICKET_CREATED');
    return hasDied;
  });
  expect(seen).toEqual(new Set([true, false]));
});

// guarantee: M4
test('a mail that is received while its id is swept becomes a ticket, and is known afterwards', async () => {
  const claims = tickets.database.collection<{ _id: string }>('externalMessageIds');
  for (let round = 0; round < 10; round++) {
    const id = newId();
    await crashAtWrite(1, 'after', () => processNow().receiveMail(call, request({ id })));
    await claims.updateOne({ _id: id }, { $set: { unseenSince: new Date(0) } });
    const [received] = await Promise.all([receive({ id }), ...processNow().tasks.map(({ run }) => run())]);
    expect(received?.outcome).toBe('TICKET_CREATED');
    expect(await receive({ id })).toEqual({ ...received, outcome: 'ALREADY_KNOWN' });
  }
});
