import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, it } from 'vitest';
import { findMailboxes, ownAddresses } from './subchannels.ts';

const mailbox = (address: string, changed: object = {}) => ({
  enabled: true,
  interface: 'imap',
  channel: Channel.EMAIL,
  address,
  ...changed,
});

const known = new Map([
  [1, mailbox('Support@Example.org')],
  [2, mailbox('support+sales@example.org')],
  [3, mailbox('off@example.org', { enabled: false })],
  [4, mailbox('chat@example.org', { channel: Channel.CHAT })],
  [5, mailbox('')],
]);

it.each([
  [['support@example.org'], [1]],
  [[' SUPPORT@EXAMPLE.ORG '], [1]],
  [['support+any+tag@example.org'], [1]],
  [['support+sales@example.org'], [2]],
  [
    ['other@example.org', 'support+sales@example.org', 'support@example.org', 'support+any@example.org'],
    [2, 1],
  ],
  [['support@example.com'], []],
  [['+support@example.org'], []],
  [['off@example.org'], []],
  [['chat@example.org'], []],
  [['', '+', '@'], []],
  [[], []],
])('the mailboxes of %j are %j', (addresses, expected) => {
  expect(findMailboxes(addresses, known)).toEqual(expected);
});

it('finds none as long as no subchannel is known', () => {
  expect(findMailboxes(['support@example.org'], undefined)).toEqual([]);
});

it.each([
  ['support@example.org', true],
  [' SUPPORT+any@example.ORG ', true],
  ['support@ｅxample.org', true],
  ['off@example.org', true],
  ['desk@example.org', true],
  ['chat@example.org', false],
  ['support@example.com', false],
  ['+4930123', false],
  ['', false],
])('that %j is one of our own addresses is %s', (address, expected) => {
  expect(ownAddresses({ subchannels: known, mailFrom: 'Desk@example.org' })(address)).toBe(expected);
});

it('has no addresses of its own as long as there is no setting', () => {
  expect(ownAddresses({ subchannels: undefined, mailFrom: null })('')).toBe(false);
});
