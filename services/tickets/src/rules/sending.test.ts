import { NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
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
  expect(findReasonNotSent({ channel }, given, { isNamed })).toBe(reason);
});

test('a mail that came to a chat is answered by a mail', () => {
  const chat = { channel: Channel.CHAT, latestMessage: { isMail: true } };
  expect(findReasonNotSent(chat, { to: [kim] }, { isNamed: false })).toBeUndefined();
});

test('a message has an e-mail template if it is sent, or is an outgoing one of channel email', () => {
  const direction = Direction.OUT;
  expect(isMail(Channel.PHONE, { direction }, { isSent: true })).toBe(true);
  expect(isMail(Channel.PHONE, { direction }, { isSent: false })).toBe(false);
  expect(isMail(Channel.EMAIL, { direction }, { isSent: false })).toBe(true);
  expect(isMail(Channel.EMAIL, { direction: Direction.IN }, { isSent: true })).toBe(false);
  expect(isMail(Channel.EMAIL, { direction, private: true }, { isSent: true })).toBe(false);
});
