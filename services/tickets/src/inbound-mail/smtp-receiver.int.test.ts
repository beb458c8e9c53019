import { once } from 'node:events';
import { connect } from 'node:net';
import { derivedKey } from '@ticketing/store/paging/derived-key.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { sendMail } from '@ticketing/testkit/send-mail.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { returnAddresses } from '../message/rules/outgoing-mail.ts';
import { defaultSettings } from '../settings.ts';
import type { KnownSubchannel } from '../ticket/rules/subchannels.ts';

let tickets: TicketsHarness;
let port: number;
let isKnown = true;
/** The subchannels that this process knows only after it has asked the owner of the settings. */
const owned = new Map<number, KnownSubchannel>();
const subchannels = new Map<number, KnownSubchannel>([
  [1, { enabled: true, interface: 'imap', channel: 1, address: 'support@example.org' }],
  [2, { enabled: true, interface: 'imap', channel: 1, address: 'sales@example.org' }],
]);

beforeAll(async () => {
  port = await freePort();
  tickets = await startHarness({
    variables: { ROLES: 'api,mail-receiver', MAIL_RECEIVER_PORT: String(port) },
    settings: async (age) => {
      if (age === 'owner') for (const [id, subchannel] of owned) subchannels.set(id, subchannel);
      return { ...defaultSettings, subchannels: isKnown ? subchannels : undefined };
    },
  });
});
afterAll(() => tickets.stop());

let lastId = 0;
const mailOf = (headers = '') =>
  `From: Kim <kim@example.com>\r\nSubject: Meter\r\nMessage-ID: <smtp-${++lastId}@example.com>\r\n${headers}\r\nHello`;
const documents = () => tickets.database.collection('tickets').find().sort({ _id: 1 }).toArray();

test('a mail is stored before it is acknowledged, in the mailbox of its recipient', async () => {
  expect(await sendMail(port, ['SALES+x@example.org'], mailOf())).toEqual(['250', '250']);
  expect(await documents()).toMatchObject([
    { subject: 'Meter', from: 'kim@example.com', subchannelId: 2, channel: 'email', createdBy: null },
  ]);
});

test('a mail for two mailboxes becomes a ticket in each, also in several transactions', async () => {
  const before = (await documents()).length;
  const mail = mailOf('To: sales@example.org, support@example.org\r\n');
  expect(await sendMail(port, ['support@example.org', 'sales@example.org'], mail)).toEqual(['250', '250', '250']);
  for (const one of ['sales', 'support']) {
    expect(await sendMail(port, [`${one}@example.org`], mail)).toEqual(['250', '250']);
  }
  const stored = await documents();
  expect(stored.slice(before)).toMatchObject([{ subchannelId: 1 }, { subchannelId: 2 }]);
  const other = mailOf('To: sales@example.org, support@example.org\r\n');
  for (const one of ['sales', 'support']) await sendMail(port, [`${one}@example.org`], other);
  expect((await documents()).slice(before + 2)).toMatchObject([{ subchannelId: 2 }, { subchannelId: 1 }]);
});

test('a mail with a null return path is one of a program', async () => {
  expect(await sendMail(port, ['support@example.org'], mailOf(), '')).toEqual(['250', '250']);
  expect((await documents()).at(-1)).toMatchObject({ spamStatus: 'auto_programmatic' });
});

test('mails for others, unreadable ones and loops are refused for good, and later ones are taken', async () => {
  const before = (await documents()).length;
  expect(await sendMail(port, ['other@example.org'], mailOf())).toEqual(['550']);
  expect(await sendMail(port, ['support@example.org'], 'no mail')).toEqual(['250', '554']);
  expect(await sendMail(port, ['support@example.org'], mailOf('Received: x\r\n'.repeat(101)))).toEqual(['250', '554']);
  expect(await documents()).toHaveLength(before);
  expect(await sendMail(port, ['support@example.org'], mailOf())).toEqual(['250', '250']);
});

test('the sender is asked to try again while the mailboxes are not known', async () => {
  isKnown = false;
  expect(await sendMail(port, ['support@example.org'], mailOf())).toEqual(['451']);
  isKnown = true;
  expect(await sendMail(port, ['support@example.org'], mailOf())).toEqual(['250', '250']);
});

test('a mail for a mailbox made a moment ago is taken in, because the owner of the settings is asked', async () => {
  const mailbox: KnownSubchannel = { enabled: true, interface: 'imap', channel: 1, address: 'new@example.org' };
  expect(await sendMail(port, ['new@example.org'], mailOf())).toEqual(['550']);
  owned.set(3, mailbox);
  expect(await sendMail(port, ['new@example.org'], mailOf())).toEqual(['250', '250']);
  expect((await documents()).at(-1)).toMatchObject({ subchannelId: 3 });
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

test('a signed return address of an enabled mailbox is accepted, whatever its domain is', async () => {
  const body = { channel: 'email', from: 'kim@example.com', subject: 'Meter', subchannelId: 2 };
  const { id: ticketId } = (await tickets.request('POST', '/ticket', { body })).json;
  const content = { message: 'Done.', type: 'text' };
  const reply = await tickets.request('POST', `/ticket/${ticketId}/conversation/reply`, { body: { content } });
  const addresses = returnAddresses(derivedKey(tickets.identity.keys.signingKeyFile('tickets'), 'return address'));
  const signed = addresses.make('bounces-{tag}@returned.example.net', 'sales@example.org', reply.json.id) ?? '';
  const other = signed.replace(/-[^-]+@/, '-aaaaaaaa@');
  expect(await sendMail(port, [other], mailOf(), '')).toEqual(['550']);
  expect(await sendMail(port, [signed.toUpperCase()], mailOf(), '')).toEqual(['250', '250']);
  const { conversations } = (await tickets.request('GET', `/ticket/${ticketId}/conversation`)).json;
  expect(conversations.at(-1)).toMatchObject({ from: 'kim@example.com', subchannelId: 2 });
  const mailbox = subchannels.get(2);
  if (!mailbox) throw new Error('there is no such mailbox');
  subchannels.set(2, { ...mailbox, enabled: false });
  onTestFinished(() => void subchannels.set(2, mailbox));
  expect(await sendMail(port, [signed], mailOf(), '')).toEqual(['550']);
});
