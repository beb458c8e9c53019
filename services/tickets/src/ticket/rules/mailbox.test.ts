import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, it } from 'vitest';
import { findMailbox, ownAddresses } from './subchannels.ts';

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
  [['support@example.org'], 1],
  [[' SUPPORT@EXAMPLE.ORG '], 1],
  [['support+any+tag@example.org'], 1],
  [['support+sales@example.org'], 2],
  [['other@example.org', 'support+sales@example.org', 'support@example.org'], 2],
  [['support@example.com'], undefined],
  [['+support@example.org'], undefined],
  [['off@example.org'], undefined],
  [['chat@example.org'], undefined],
  [['', '+', '@'], undefined],
  [[], undefined],
])('the mailbox of %j is %s', (addresses, expected) => {
  expect(findMailbox(addresses, known)).toBe(expected);
});

it('is none as long as no subchannel is known', () => {
  expect(findMailbox(['support@example.org'], undefined)).toBeUndefined();
});

it.each([
  ['support@example.org', true],
  [' SUPPORT+any@example.ORG ', true],
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
