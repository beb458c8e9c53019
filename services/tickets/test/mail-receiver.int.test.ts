import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KnownSubchannel } from '../src/domain/subchannels.ts';
import { defaultSettings } from '../src/settings.ts';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
let port: number;
let isKnown = true;
const subchannels = new Map<number, KnownSubchannel>([
  [1, { enabled: true, interface: 'imap', channel: 1, address: 'support@example.org' }],
  [2, { enabled: true, interface: 'imap', channel: 1, address: 'sales@example.org' }],
]);

beforeAll(async () => {
  port = await freePort();
  tickets = await startHarness({
    variables: { ROLES: 'api,mail-receiver', MAIL_RECEIVER_PORT: String(port) },
    settings: async () => ({ ...defaultSettings, subchannels: isKnown ? subchannels : undefined }),
  });
});
afterAll(() => tickets.stop());

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** Sends a mail by SMTP. Returns the codes of the replies to the recipients and to the data. */
async function sendMail(recipients: readonly string[], mail: string): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const reply = async (): Promise<string> => {
    const { value } = await lines.next();
    return value?.[3] === '-' ? reply() : (value?.slice(0, 3) ?? '');
  };
  const send = (line: string) => {
    socket.write(`${line}\r\n`);
    return reply();
  };
  await reply();
  await send('EHLO sender.example');
  await send('MAIL FROM:<kim@example.com>');
  const codes: string[] = [];
  for (const recipient of recipients) codes.push(await send(`RCPT TO:<${recipient}>`));
  if (codes.includes('250')) {
    await send('DATA');
    codes.push(await send(`${mail}\r\n.`));
  }
  await send('QUIT');
  socket.destroy();
  return codes;
}

let lastId = 0;
const mailOf = (headers = '') =>
  `From: Kim <kim@example.com>\r\nSubject: Meter\r\nMessage-ID: <smtp-${++lastId}@example.com>\r\n${headers}\r\nHello`;
const documents = () => tickets.database.collection('tickets').find().sort({ _id: 1 }).toArray();

test('a mail is stored before it is acknowledged, in the mailbox of its recipient', async () => {
  expect(await sendMail(['SALES+x@example.org'], mailOf())).toEqual(['250', '250']);
  expect(await documents()).toMatchObject([
    { subject: 'Meter', from: 'kim@example.com', subchannelId: 2, channel: 'email', createdBy: null },
  ]);
});

test('a mail for several mailboxes becomes one ticket, in the first of them, also in several transactions', async () => {
  const before = (await documents()).length;
  const mail = mailOf('To: sales@example.org, support@example.org\r\n');
  expect(await sendMail(['support@example.org', 'sales@example.org'], mail)).toEqual(['250', '250', '250']);
  expect(await sendMail(['sales@example.org'], mail)).toEqual(['250', '250']);
  const stored = await documents();
  expect(stored).toHaveLength(before + 1);
  expect(stored.at(-1)).toMatchObject({ subchannelId: 1 });
});

test('mails for others, unreadable ones and loops are refused for good, and later ones are taken', async () => {
  const before = (await documents()).length;
  expect(await sendMail(['other@example.org'], mailOf())).toEqual(['550']);
  expect(await sendMail(['support@example.org'], 'no mail')).toEqual(['250', '554']);
  expect(await sendMail(['support@example.org'], mailOf('Received: x\r\n'.repeat(101)))).toEqual(['250', '554']);
  expect(await documents()).toHaveLength(before);
  expect(await sendMail(['support@example.org'], mailOf())).toEqual(['250', '250']);
});

test('the sender is asked to try again while the mailboxes are not known', async () => {
  isKnown = false;
  expect(await sendMail(['support@example.org'], mailOf())).toEqual(['451']);
  isKnown = true;
  expect(await sendMail(['support@example.org'], mailOf())).toEqual(['250', '250']);
});

test('nothing listens without the port, or without the role', async () => {
  const other = await freePort();
  const withoutRole = { TICKETING_TICKETS_ROLES: 'api', TICKETING_TICKETS_MAIL_RECEIVER_PORT: String(other) };
  const running = await tickets.startInstance(withoutRole);
  const socket = connect(other, '127.0.0.1');
  const [error] = await once(socket, 'error');
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  await running.stop();
});

test('a process whose port is taken does not start', async () => {
  await expect(tickets.startInstance()).rejects.toThrow('EADDRINUSE');
});
