import { Channel, Direction, SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { authorAddress, replyRecipients } from './reply-recipients.ts';

const [kim, desk, lee, max] = ['kim@x.example', 'desk@x.example', 'lee@x.example', 'max@x.example'];
const ticket = { channel: Channel.EMAIL, from: kim, to: [desk], cc: [lee], bcc: [max] };

// spec: 6.16
test('the reply to an incoming ticket goes to its sender, with copies to the other recipients and no bcc', () => {
  expect(replyRecipients({ ...ticket, direction: Direction.IN })).toEqual({ to: [kim], cc: [desk, lee], bcc: [] });
  const repeated = { ...ticket, to: [desk, 'Kim@x.example', max], cc: ['LEE@x.example', lee, 'Desk@x.example'] };
  expect(replyRecipients({ ...repeated, direction: Direction.IN })?.cc).toEqual(['Desk@x.example', max, lee]);
  const call = { ...ticket, channel: Channel.PHONE, from: 'kim', cc: ['lee'], direction: Direction.IN };
  expect(replyRecipients(call)).toEqual({ to: ['kim'], cc: ['lee'], bcc: [] });
});

test('no copy goes to a name without an address, or to an address that takes no reply', () => {
  const copied = { ...ticket, to: ['Lee', lee], cc: ['noreply@shop.example', 'no-replies@x.example', max] };
  expect(replyRecipients({ ...copied, direction: Direction.IN })?.cc).toEqual([lee, max]);
});

const isOurs = (address: string) => address.endsWith('@us.example');
const mail = { ...ticket, from: 'kim@x.example', to: ['desk@us.example'], cc: [], bcc: [], direction: Direction.IN };

test.each([
  [['lee@x.example'], ['lee@x.example']],
  [
    ['lee@x.example', 'max@x.example', 'LEE@x.example'],
    ['LEE@x.example', 'max@x.example'],
  ],
  [['desk@us.example', 'lee@x.example'], ['lee@x.example']],
  [['desk@us.example'], ['kim@x.example']],
  [['lee'], ['kim@x.example']],
  [[''], ['kim@x.example']],
  [['noreply@x.example'], ['kim@x.example']],
  [Array.from({ length: 51 }, (_, at) => `a${at}@x.example`), ['kim@x.example']],
])('the reply to a mail with Reply-To %j goes to %j', (replyTo, to) => {
  expect(replyRecipients({ ...mail, replyTo }, isOurs)).toEqual({ to, cc: [], bcc: [] });
  const latest = { ...mail, latestMessage: { ...mail, replyTo }, replyTo: ['other@x.example'] };
  expect(replyRecipients(latest, isOurs)?.to).toEqual(to);
});

test.each([
  ['noreply@web.example', null],
  ['no-reply+7@web.example', null],
  ['Do_Not.Reply@web.example', null],
  ['shop.noreply@web.example', null],
  ['nicht-antworten@web.example', null],
  ['keineantwort@web.example', null],
  ['ne-pas-repondre@web.example', null],
  ['mailer-daemon@web.example', null],
  ['noreplies@web.example', null],
  ['niet-beantwoorden@web.example', null],
  ['svar-ikke@web.example', null],
  ['ikke-svar@web.example', null],
  ['nie-odpowiadaj@web.example', null],
  ['neodpovidat@web.example', null],
  ['nincs-valasz@web.example', null],
  ['svarta@web.example', 'svarta@web.example'],
  ['desk@us.example', null],
  ['noreplyan@web.example', 'noreplyan@web.example'],
  ['norman@web.example', 'norman@web.example'],
])('the reply to a mail of %s goes to %s, or to the one whom Reply-To names', (from, to) => {
  expect(replyRecipients({ ...mail, from }, isOurs)?.to).toEqual(to === null ? [] : [to]);
  const form = { ...mail, from, replyTo: ['kim@x.example'] };
  expect(replyRecipients(form, isOurs)?.to).toEqual(['kim@x.example']);
  expect(authorAddress(form, isOurs)).toBe(to ?? 'kim@x.example');
});

test('a message of a program recommends nobody, unless a person has said that it is none', () => {
  const program = { ...mail, spamStatus: SpamStatus.AUTO_PROGRAMMATIC };
  expect(replyRecipients(program)).toEqual({ to: [], cc: [], bcc: [] });
  expect(replyRecipients({ ...program, spamStatus: SpamStatus.MANUAL_CLEAN })?.to).toEqual(['kim@x.example']);
  expect(replyRecipients({ ...program, latestMessage: mail })?.to).toEqual(['kim@x.example']);
});

test('an incoming ticket without a sender has no recipient of a reply', () => {
  expect(replyRecipients({ ...ticket, from: null, direction: Direction.IN })).toMatchObject({ to: [] });
});

test.each([Direction.OUT, Direction.INTERNAL])(
  // spec: 6.16
  'the reply to a ticket of direction %i has the same recipients',
  (direction) => {
    expect(replyRecipients({ ...ticket, direction })).toEqual({ to: [desk], cc: [lee], bcc: [max] });
  },
);

test.each([Direction.IN, Direction.OUT])(
  'no reply to a ticket of direction %i goes to our own addresses',
  (direction) => {
    const isOurs = (address: string) => [lee, max, desk].includes(address);
    const copied = { ...ticket, to: [kim, desk], cc: [lee, 'ann@x.example'] };
    expect(replyRecipients({ ...copied, direction }, isOurs)).toEqual({ to: [kim], cc: ['ann@x.example'], bcc: [] });
    expect(replyRecipients({ ...copied, direction }, (address) => address === kim)?.to).not.toContain(kim);
  },
);

// spec: 6.19
test('a system ticket has no reply', () => {
  expect(replyRecipients({ ...ticket, channel: Channel.SYSTEM, direction: Direction.IN })).toBeNull();
});

const customerEmail = 'ada@example.org';

test.each([
  [Channel.PHONE, '+49 30 1', 'ada@example.org'],
  [Channel.PHONE, null, 'ada@example.org'],
  [Channel.LETTER, 'Ada, Musterstr. 1', 'ada@example.org'],
  [Channel.WALK_IN, null, 'ada@example.org'],
  [Channel.PORTAL, null, 'ada@example.org'],
  [Channel.PORTAL, 'kim@example.org', 'kim@example.org'],
  [Channel.EMAIL, 'kim@example.org', 'kim@example.org'],
  [Channel.CHAT, 'kim', 'kim'],
  // spec: 6.10, 6.18
])('on channel %i a sender "%s" is replied to at %s', (channel, from, to) => {
  expect(replyRecipients({ ...ticket, channel, from, direction: Direction.IN, customerEmail })?.to).toEqual([to]);
});

test.each([null, 'not an address'])('a customer with the address "%s" is not a recipient', (email) => {
  const letter = { ...ticket, channel: Channel.LETTER, from: null, direction: Direction.IN };
  expect(replyRecipients({ ...letter, customerEmail: email })?.to).toEqual([]);
});

test('an outgoing ticket is not sent to the customer instead', () => {
  const call = { ...ticket, channel: Channel.PHONE, direction: Direction.OUT };
  expect(replyRecipients({ ...call, customerEmail })?.to).toEqual([desk]);
});

test('the copies of a received message are recommended up to 50, and beyond that none of them', () => {
  const copied = (count: number) => Array.from({ length: count }, (_, at) => `a${at}@example.org`);
  const received = (count: number) => ({ ...ticket, to: [], cc: copied(count), direction: Direction.IN });
  expect(replyRecipients(received(50))).toEqual({ to: [kim], cc: copied(50), bcc: [] });
  expect(replyRecipients(received(51))).toEqual({ to: [kim], cc: [], bcc: [] });
  const sent = { ...ticket, cc: copied(51), direction: Direction.OUT };
  expect(replyRecipients({ ...received(1), latestMessage: received(51) })?.cc).toEqual([]);
  expect(replyRecipients({ ...received(1), latestMessage: sent })?.cc).toEqual(copied(51));
});
