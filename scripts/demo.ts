import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { type LocalMail, localMail } from '../tools/demo/local-mail.ts';
import { type ResponseBody, Story } from '../tools/demo/story.ts';
import { gatewayUrl } from '../tools/dev/gateway-url.ts';
import { runDevelopmentScript } from '../tools/dev/run-script.ts';

const usage = `Plays the life of a ticket through the public API, and prints each request and response:

  npm run demo

  --port PORT  the port of the gateway (8080); the system is started if nothing listens there
  --data DIR   the data folder of the system (./data), with the certificates of one that was started with --tls
`;

await runDevelopmentScript(async () => {
  const options = {
    port: { type: 'string', default: '8080' },
    data: { type: 'string', default: './data' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const url = gatewayUrl(values.data, values.port);
  const stop = await ensureRunning(url, values.port, values.data);
  try {
    const { issuerKeyFile } = developmentKeys(values.data);
    const claims = { sub: '1', kind: 'user', roleId: 1, firstName: 'Ada', lastName: 'Admin', email: 'ada@example.com' };
    const token = await signToken(issuerKeyFile, claims, 3600);
    const story = new Story(url, token);
    await runStory(story);
    await runMailStory(story, localMail(values.data, token));
  } finally {
    await stop();
  }
});

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

/** A mail arrives, is answered by way of a draft, and the answer leaves as a mail. */
async function runMailStory(story: Story, mail: LocalMail): Promise<void> {
  const run = Date.now().toString(36);
  const address = `support-${run}@example.org`;
  story.chapter('A mailbox is set up');
  const mailbox = { channel: 'email', name: `Support ${run}`, interface: 'smtp', data: { address } };
  const subchannelId = numberIn(await story.request('POST', '/settings/subchannel', mailbox), 'id');

  story.chapter('A mail arrives there, with a picture');
  const text = [
    'From: Kim Lee <kim@example.com>',
    `To: ${address}`,
    'Subject: =?UTF-8?Q?Z=C3=A4hler_defekt?=',
    `Message-ID: <demo-${run}@example.com>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=part',
    '',
    '--part',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Der Z=E4hler zeigt nichts mehr an.',
    '--part',
    'Content-Type: image/png',
    'Content-Disposition: attachment; filename=meter.png',
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

  story.chapter('It leaves as a mail');
  const { externalConversationId } = await story.request('GET', path);
  const sent = await eventually(() => mail.sent(String(externalConversationId)));
  story.print(`${sent.file}\n\n${sent.text.trim()}`);
  await story.request('GET', path);
}

/** The mailbox is known to the service that takes in mails a moment after it was set up. */
function receiveWhenKnown(mail: LocalMail, text: string): Promise<ResponseBody> {
  return eventually(async () => {
    const received = await mail.receive(text);
    return 'ticketId' in received ? received : undefined;
  });
}

async function eventually<Result>(find: () => Result | undefined | Promise<Result | undefined>): Promise<Result> {
  const until = Date.now() + 15_000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (Date.now() > until) throw new Error('It did not happen within 15 seconds.');
    await setTimeout(100);
  }
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
  const child = spawn(process.execPath, ['scripts/start.ts', '--port', port, '--data', data], {
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
