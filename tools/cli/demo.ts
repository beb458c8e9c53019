import { spawn } from 'node:child_process';
import { existingKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import type { DemoMail } from '../demo/demo-mail.ts';
import { localMail } from '../demo/local-mail.ts';
import { remoteMail } from '../demo/remote-mail.ts';
import { eventually, type ResponseBody, Story } from '../demo/story.ts';
import { gatewayUrl } from '../dev/gateway-url.ts';
import { declareCommand, UsageError } from './command.ts';

const usage = `Plays the life of a ticket through the public API, and prints each request and response:

  npm run demo

  --port PORT  the port of the gateway (8080); the system is started if nothing listens there
  --data DIR   the data folder of the system (./data), with the certificates of one that was started with --tls

For a system that was started in another way, as by deploy/compose:

  --url URL          the gateway; nothing is started
  --rpc-url URL      the port of the tickets service for HTTP, which takes in mails
  --mails-url URL    the catcher of mails (Mailpit), to which the system sends
  --data DIR         the folder that has the issuer's key in keys/
`;

const options = {
  port: { type: 'string', default: '8080' },
  data: { type: 'string', default: './data' },
  url: { type: 'string' },
  'rpc-url': { type: 'string' },
  'mails-url': { type: 'string' },
} as const;

export const command = declareCommand({ usage, options }, async (values) => {
  if (values.url !== undefined) {
    const { 'rpc-url': rpcUrl, 'mails-url': mailsUrl } = values;
    if (!rpcUrl || !mailsUrl) throw new UsageError('--url needs --rpc-url and --mails-url.');
    const token = await issueToken(values.data);
    await runStories(new Story(values.url, token), remoteMail({ rpcUrl, mailsUrl }, token));
    return;
  }
  const url = gatewayUrl(values.data, values.port);
  const stop = await ensureRunning(url, values.port, values.data);
  try {
    const token = await issueToken(values.data);
    await runStories(new Story(url, token), localMail(values.data, token));
  } finally {
    await stop();
  }
});

function issueToken(dataDir: string): Promise<string> {
  const { issuerKeyFile } = existingKeys(dataDir);
  const claims = { sub: '1', kind: 'user', roleId: 1, firstName: 'Ada', lastName: 'Admin', email: 'ada@example.com' };
  return signToken(issuerKeyFile, claims, 3600);
}

async function runStories(story: Story, mail: DemoMail): Promise<void> {
  await runStory(story);
  const mailed = await runMailStory(story, mail);
  await runTemplateStory(story, mail, mailed);
  await runPortalStory(story, mail, mailed);
  await runBounceStory(story, mail, mailed);
}

async function runStory(story: Story): Promise<void> {
  const run = Date.now().toString(36);
  story.chapter('A tag is created for the topic of the request');
  const tag = await story.request('POST', '/tag', { name: `Meter reading ${run}`, color: '#3b82f6' });

  story.chapter('Kim writes an e-mail');
  const created = await story.request('POST', '/ticket', {
    channel: 'email',
    from: 'kim@example.com',
    fromName: 'Kim Lee',
    subject: 'Zählerstand für den Umzug',
    body: '<p>Guten Tag,</p><p>mein Zählerstand ist <b>4711</b>.</p><p>-- <br>Kim Lee</p>',
    priority: 'high',
    tags: [numberIn(tag, 'id')],
    externalTicketId: `demo-${run}`,
  });
  const id = numberIn(created, 'id');

  story.chapter('An agent opens the ticket');
  await story.request('GET', `/ticket/${id}`);

  story.chapter('The other system sends the same ticket again: it is updated, and no second one is created');
  await story.request('POST', '/ticket', { channel: 'email', externalTicketId: `demo-${run}`, priority: 'urgent' });

  story.chapter('A colleague looks for it, without umlauts');
  await story.request('POST', '/ticket/search', {
    filters: [
      { key: 'q', comparator: '=', value: 'zahlerstand umzug' },
      { key: 't.status', comparator: 'in', values: ['open', 'pending'] },
    ],
    orderByField: 't.createdAt',
    limit: 1,
  });

  story.chapter('The agent marks who works on the ticket, and sets it to pending');
  await story.request('PATCH', `/ticket/${id}`, { workedOnBy: 1, status: 'pending', dueBy: '2030-01-31 12:00:00' });

  story.chapter('A second ticket is created; repeating the request with its idempotency key creates no third');
  const letter = { channel: 'letter', subject: 'Abschlag', dueBy: '2030-01-01' };
  const key = { 'idempotency-key': `demo-${run}` };
  const second = numberIn(await story.request('POST', '/ticket', letter, key), 'id');
  await story.request('POST', '/ticket', letter, key);

  story.chapter('An agent asks for the next ticket in the queue');
  await story.request('POST', '/ticket/getLatest', { preferredDirection: 'next', ticketId: second });

  story.chapter('A bulk changes both tickets, or neither: the first fails because one ticket does not exist');
  const both = [
    { id, status: 'open', removeTagIds: [numberIn(tag, 'id')] },
    { id: second, priority: 'high', addTagIds: [numberIn(tag, 'id')] },
  ];
  await story.request('PATCH', '/ticket', [...both, { id: 2_000_000_000, status: 'open' }]);
  await story.request('PATCH', '/ticket', both);

  story.chapter('A change with the ETag of an old version is refused');
  await story.request('PATCH', `/ticket/${second}`, { status: 'closed' }, { 'if-match': '"1"' });

  story.chapter('The customer asks for the deletion of the ticket');
  await story.request('DELETE', `/ticket/${id}`);
  await story.request('GET', `/ticket/${id}`);

  story.chapter('A request with invalid input is refused, with a pointer to each problem');
  await story.request('POST', '/ticket', { channel: 'fax', dueBy: '2026-02-30', colour: 'red' });
}

/** A request from the portal is answered by mail, and a telephone call is only recorded. */
async function runPortalStory(story: Story, mail: DemoMail, { subchannelId }: MailedTicket): Promise<void> {
  story.chapter('Kim asks in the portal; the answer leaves as a mail');
  const request = { channel: 'portal', from: 'kim@example.com', subject: 'Umzug', body: 'Ich ziehe um.' };
  const id = numberIn(await story.request('POST', '/ticket', request), 'id');
  const content = { type: 'text', message: 'Wir haben Ihren Umzug notiert.' };
  const reply = await story.request('POST', `/ticket/${id}/conversation/reply`, { content, subchannelId });
  await showSent(story, mail, `/ticket/${id}/conversation/${numberIn(reply, 'id')}`);

  story.chapter('The agent has told her on the telephone too, which is only recorded');
  const call = { content: { type: 'text', message: 'Am Telefon besprochen.' }, send: false };
  await story.request('POST', `/ticket/${id}/conversation/reply`, call);
}

/** An answer does not arrive: its ticket opens again. */
async function runBounceStory(story: Story, mail: DemoMail, { subchannelId, address }: MailedTicket): Promise<void> {
  story.chapter('An answer is sent to an address that does not exist, and the ticket is closed');
  const to = 'kim.lee@example.net';
  const request = { channel: 'portal', from: to, subject: 'Rechnung', body: 'Wo ist meine Rechnung?' };
  const id = numberIn(await story.request('POST', '/ticket', request), 'id');
  const content = { type: 'text', message: 'Sie finden die Rechnung im Portal.' };
  const reply = await story.request('POST', `/ticket/${id}/conversation/reply`, { content, subchannelId });
  const path = `/ticket/${id}/conversation/${numberIn(reply, 'id')}`;
  const messageId = await showSent(story, mail, path);
  await story.request('PATCH', `/ticket/${id}`, { status: 'closed' });

  story.chapter('The mail server of the address reports that it could not deliver the mail');
  const report = [
    'From: Mail Delivery System <MAILER-DAEMON@mx.example.net>',
    `To: ${address}`,
    'Subject: Undelivered Mail Returned to Sender',
    `Message-ID: <report-${id}-${Date.now().toString(36)}@mx.example.net>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=part',
    '',
    '--part',
    'Content-Type: text/plain',
    '',
    `<${to}>: 550 5.1.1 User unknown`,
    '--part',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.net',
    '',
    `Final-Recipient: rfc822; ${to}`,
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 User unknown',
    '',
    '--part',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: ${messageId}`,
    '--part--',
  ];
  story.print(report.join('\n'));
  story.print(JSON.stringify(await mail.receive(report.join('\r\n')), null, 2));

  story.chapter('The message shows it, and the ticket is open again, with a note');
  await story.request('GET', path);
  await story.request('GET', `/ticket/${id}/conversation`);
}

/** The ticket of a mail, and the mailbox that replies to it. */
interface MailedTicket {
  ticketId: number;
  subchannelId: number;
  /** The address of the mailbox. */
  address: string;
}

/** A mail arrives, is answered by way of a draft, and the answer leaves as a mail. Returns its ticket and the mailbox. */
async function runMailStory(story: Story, mail: DemoMail): Promise<MailedTicket> {
  const run = Date.now().toString(36);
  const address = `support-${run}@example.org`;
  story.chapter('A mailbox is set up');
  const mailbox = { channel: 'email', name: `Support ${run}`, interface: 'smtp', data: { address } };
  const subchannelId = numberIn(await story.request('POST', '/settings/subchannel', mailbox), 'id');

  story.chapter('A moment later it is known to all services');
  await story.requestWhenKnown('POST', '/ticket', { channel: 'email', subchannelId, subject: 'A test of the mailbox' });

  story.chapter('A mail arrives there, with a picture in its text');
  const text = [
    'From: Kim Lee <kim@example.com>',
    `To: ${address}`,
    'Subject: =?UTF-8?Q?Z=C3=A4hler_defekt?=',
    `Message-ID: <demo-${run}@example.com>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/related; boundary=part',
    '',
    '--part',
    'Content-Type: text/html; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<p>Der Z=E4hler zeigt nichts mehr an:</p><p><img src=3D"cid:meter@example.com" alt=3D"Z=E4hler"></p>',
    '--part',
    'Content-Type: image/png',
    'Content-ID: <meter@example.com>',
    'Content-Disposition: inline; filename=meter.png',
    'Content-Transfer-Encoding: base64',
    '',
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
    '--part--',
  ];
  story.print(text.join('\n'));
  const received = await receiveWhenKnown(mail, text.join('\r\n'));
  story.print(JSON.stringify(received, null, 2));
  const id = numberIn(received, 'ticketId');
  await story.request('GET', `/ticket/${id}`);
  await story.request('GET', `/ticket/${id}/conversation`);

  story.chapter('An agent writes a draft, changes it, and publishes it');
  const draft = await story.request('POST', `/ticket/${id}/conversation/reply`, {
    content: { type: 'html', message: '<p>Wir tauschen den Zähler.</p>' },
    isDraft: true,
    subchannelId,
  });
  const path = `/ticket/${id}/conversation/${numberIn(draft, 'id')}`;
  await story.request('PATCH', path, {
    content: { type: 'html', message: '<p>Wir tauschen den Zähler <b>am Montag</b>.</p>' },
  });
  await story.request('PATCH', path, { isDraft: false });

  await showSent(story, mail, path);
  await story.request('GET', path);
  return { ticketId: id, subchannelId, address };
}

/** A ticket is answered with a response template, in an e-mail template with greeting and signature. */
async function runTemplateStory(story: Story, mail: DemoMail, { ticketId, subchannelId }: MailedTicket): Promise<void> {
  const run = Date.now().toString(36);
  story.chapter('An e-mail template gives mails a greeting and a signature');
  const emailTemplate = await story.request('POST', '/emailTemplate', {
    name: `Usual ${run}`,
    template:
      '<p>Guten Tag {{default ticket.fromName "und willkommen"}},</p>%MESSAGE%<p>Viele Grüße<br>{{agent.firstName}}</p>',
  });

  story.chapter('A response template answers a usual question, with a file');
  const message =
    '<p>wir tauschen den Zähler {{last4digits in.meter}} am {{formatDateDE (addDays in.date 7)}}' +
    '{{#contains ticket.subject "defekt"}}, ohne Kosten für Sie{{/contains}}.</p>';
  const templateData = { meter: '0815-4711', date: '2026-12-01' };
  await story.request('POST', '/template/preview', { message, ticketId, templateData });
  const template = await story.request('POST', '/template', {
    ...{ message, description: 'Exchange of a meter', emailTemplateId: numberIn(emailTemplate, 'id') },
    attachments: [{ name: 'notes.txt', base64: Buffer.from('Please clear the way to the meter.').toString('base64') }],
  });

  story.chapter('An agent replies with it');
  const reply = await story.request('POST', `/ticket/${ticketId}/conversation/reply`, {
    templateId: numberIn(template, 'id'),
    templateData,
    subchannelId,
  });
  await showSent(story, mail, `/ticket/${ticketId}/conversation/${numberIn(reply, 'id')}`);
}

/** Shows the mail by which a message leaves, and returns its `Message-ID`. */
async function showSent(story: Story, mail: DemoMail, path: string): Promise<string> {
  story.chapter('It leaves as a mail');
  const { externalConversationId } = await story.request('GET', path);
  const messageId = String(externalConversationId);
  const sent = await eventually(() => mail.sent(messageId));
  story.print(`${sent.place}\n\n${sent.text.trim()}`);
  return messageId;
}

/** Repeats a mail until it is taken in: the receiving service learns of a new mailbox a moment later. */
function receiveWhenKnown(mail: DemoMail, text: string): Promise<ResponseBody> {
  return eventually(async () => {
    const received = await mail.receive(text);
    return 'ticketId' in received ? received : undefined;
  });
}

function numberIn(body: ResponseBody, name: string): number {
  const value = body[name];
  if (typeof value !== 'number') throw new Error(`The response has no ${name}.`);
  return value;
}

/** Starts the system unless it is running already. Returns a function that stops it if it was started here. */
async function ensureRunning(url: string, port: string, data: string): Promise<() => Promise<void>> {
  const isRunning = await fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  );
  if (isRunning) return async () => undefined;
  process.stdout.write(`Nothing listens at ${url}: starting the system.\n`);
  const child = spawn(process.execPath, ['tools/cli/main.ts', 'start', '--port', port, '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (/^ready /m.test(printed)) resolve();
    });
    child.once('exit', () => reject(new Error('The system could not be started.')));
  });
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}
