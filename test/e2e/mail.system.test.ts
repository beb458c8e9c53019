import { freePort } from '@ticketing/testkit/free-port.ts';
import { sendMail } from '@ticketing/testkit/send-mail.ts';
import { type SmtpReceiver, startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from './harness.ts';

let system: System;
/** The mail server of the customers. */
let mailServer: SmtpReceiver;
/** The port at which the system takes in mails. */
let receiverPort: number;
let headers: Record<string, string>;
const mailbox = 'support@example.org';
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
);

beforeAll(async () => {
  mailServer = await startSmtpReceiver();
  receiverPort = await freePort();
  const outgoing = { MAIL_FOLDER: '', SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` };
  system = await startSystem({
    serviceVariables: { tickets: { ...outgoing, MAIL_RECEIVER_PORT: String(receiverPort) } },
  });
  const token = await system.identity.issuerToken({ roleId: 1, kind: 'user' });
  headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
});
afterAll(async () => {
  await system?.stop();
  await mailServer.close();
});

async function call(method: string, path: string, body?: object) {
  const response = await system.fetch(system.url + path, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const json: any = await response.json();
  expect(response.ok, `${method} ${path}: ${JSON.stringify(json)}`).toBe(true);
  return json;
}

/** Sends a mail of the customer. Returns whether the system has taken it in. */
async function write(id: string, text: string, more: readonly string[] = []): Promise<boolean> {
  const head = ['From: Kim <kim@example.com>', `To: ${mailbox}`, 'Subject: Meter', `Message-ID: ${id}`, ...more];
  const codes = await sendMail(receiverPort, [mailbox], [...head, '', text].join('\r\n'));
  return codes.length === 2 && codes.every((code) => code === '250');
}

const readHeader = (bytes: Buffer, name: string) =>
  new RegExp(`^${name}: ((?:.*\\r\\n[ \\t])*.*)\\r$`, 'im').exec(bytes.toString())?.[1]?.replaceAll(/\r\n\s/g, ' ');

/** Waits until the customer has received `count` mails, and returns the last one. */
async function mailNumber(count: number) {
  await expect.poll(() => mailServer.mails.length).toBe(count);
  const mail = mailServer.mails.at(-1);
  if (!mail) throw new Error('there is no mail');
  return mail;
}

// guarantee: M5
test('a mail becomes a ticket, its answer leaves, the answer to that reopens the ticket, and an auto-reply does not', async () => {
  await call('POST', '/settings/subchannel', {
    ...{ channel: 'email', name: 'Support', interface: 'smtp' },
    data: { address: mailbox },
  });
  // The mailbox is known to the receiver of mails a moment later.
  await expect.poll(() => write('<1@example.com>', 'The meter is broken.')).toBe(true);
  const search = { orderByField: 't.id', orderByDirection: 'desc', limit: 1 };
  const [ticket] = (await call('POST', '/ticket/search', search)).tickets;
  expect(ticket).toMatchObject({ channel: 'email', from: 'kim@example.com', subject: 'Meter', status: 'open' });
  const path = `/ticket/${ticket.id}/conversation`;

  const attachments = [{ name: 'meter.png', base64: picture.toString('base64') }];
  const content = { message: '<p>We send <b>someone</b>.</p>', type: 'html' };
  const draft = await call('POST', `${path}/reply`, { content, attachments, isDraft: true });
  expect(draft.conversation).toMatchObject({ isDraft: true, deliveryStatus: 'none', to: ['kim@example.com'] });
  await call('PATCH', `${path}/${draft.id}`, { isDraft: false });
  const mail = await mailNumber(1);
  expect(mail).toMatchObject({ from: mailbox, to: ['kim@example.com'] });
  const sentId = readHeader(mail.bytes, 'Message-ID');
  expect(readHeader(mail.bytes, 'In-Reply-To')).toBe('<1@example.com>');
  expect(readHeader(mail.bytes, 'From')).toContain(`<${mailbox}>`);
  expect(mail.bytes.toString().replaceAll('\r\n', '')).toContain(picture.toString('base64'));
  await expect
    .poll(() => call('GET', `${path}/${draft.id}`))
    .toMatchObject({ isDraft: false, deliveryStatus: 'sent', externalConversationId: sentId });

  await call('PATCH', `/ticket/${ticket.id}`, { status: 'closed' });
  expect(await write('<2@example.com>', 'Thank you.', [`In-Reply-To: ${sentId}`])).toBe(true);
  expect(await call('GET', `/ticket/${ticket.id}`)).toMatchObject({ status: 'open', closedAt: null });

  await call('PATCH', `/ticket/${ticket.id}`, { status: 'closed' });
  const isAway = [`In-Reply-To: ${sentId}`, 'Auto-Submitted: auto-replied'];
  expect(await write('<3@example.com>', 'I am away.', isAway)).toBe(true);
  expect(await call('GET', `/ticket/${ticket.id}`)).toMatchObject({ status: 'closed' });
  // The server of the sender did not get the response, and sends the mail again.
  expect(await write('<3@example.com>', 'I am away.', isAway)).toBe(true);

  const { conversations, total } = await call('GET', path);
  expect(total).toBe(4);
  expect(conversations).toMatchObject([
    { direction: 'in', bodyPlain: 'The meter is broken.' },
    { direction: 'out', bodyPlain: 'We send someone.', attachments: [{ name: 'meter.png', contentType: 'image/png' }] },
    { direction: 'in', bodyPlain: 'Thank you.', externalConversationId: '<2@example.com>' },
    { direction: 'in', bodyPlain: 'I am away.', externalConversationId: '<3@example.com>' },
  ]);
  const types = async () => {
    const { events } = await call('GET', '/event?limit=100');
    return events
      .filter(({ ticketId }: { ticketId: number }) => ticketId === ticket.id)
      .map(({ type }: { type: string }) => type);
  };
  await expect
    .poll(types)
    .toEqual([
      'ticket.created',
      'conversation.published',
      'ticket.updated',
      'conversation.created',
      'ticket.updated',
      'conversation.created',
    ]);
  expect(mailServer.mails).toHaveLength(1);
});
