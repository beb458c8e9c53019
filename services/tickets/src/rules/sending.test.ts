import { DeliveryStatus, NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { findReasonNotSent, isMail } from './sending.ts';

const kim = 'kim@example.com';
const { NO_RECIPIENT, CHANNEL_WITHOUT_MAIL } = NotSentReason;

test.each([
  [Channel.EMAIL, { to: [kim] }, false, undefined],
  [Channel.EMAIL, {}, false, NO_RECIPIENT],
  [Channel.PHONE, { to: ['+49 30 1'] }, true, NO_RECIPIENT],
  [Channel.PHONE, { to: ['+49 30 1'], cc: [kim] }, true, undefined],
  [Channel.LETTER, { bcc: [kim] }, true, undefined],
  [Channel.SYSTEM, { to: [kim] }, true, undefined],
  [Channel.CHAT, { to: [kim] }, false, CHANNEL_WITHOUT_MAIL],
  [Channel.CHAT, { to: [kim] }, true, undefined],
  [Channel.CHAT, { to: ['visitor 7'] }, true, CHANNEL_WITHOUT_MAIL],
])('on channel %i a message to %o, which the request names: %s, is not sent: %s', (channel, given, isNamed, reason) => {
  expect(findReasonNotSent(channel, given, { isNamed })).toBe(reason);
});

test('a message has an e-mail template if it is sent, is to be sent, or is an outgoing one of channel email', () => {
  const draft = { direction: Direction.OUT, to: [kim] };
  const queued = { ...draft, deliveryStatus: DeliveryStatus.QUEUED };
  expect(isMail(Channel.PHONE, queued, { isToBeSent: false })).toBe(true);
  expect(isMail(Channel.PHONE, draft, { isToBeSent: true })).toBe(true);
  expect(isMail(Channel.PHONE, draft, { isToBeSent: false })).toBe(false);
  expect(isMail(Channel.PHONE, { direction: Direction.OUT }, { isToBeSent: true })).toBe(false);
  expect(isMail(Channel.EMAIL, { direction: Direction.OUT }, { isToBeSent: false })).toBe(true);
  expect(isMail(Channel.EMAIL, { direction: Direction.IN }, { isToBeSent: true })).toBe(false);
  expect(isMail(Channel.EMAIL, { ...draft, private: true }, { isToBeSent: true })).toBe(false);
});
