import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { replyRecipients } from './reply-recipients.ts';

const ticket = { channel: Channel.EMAIL, from: 'kim', to: ['desk'], cc: ['lee'], bcc: ['max'] };

test('the reply to an incoming ticket goes to its sender, with the same cc and no bcc', () => {
  expect(replyRecipients({ ...ticket, direction: Direction.IN })).toEqual({ to: ['kim'], cc: ['lee'], bcc: [] });
});

test('an incoming ticket without a sender has no recipient of a reply', () => {
  expect(replyRecipients({ ...ticket, from: null, direction: Direction.IN })).toMatchObject({ to: [] });
});

test.each([Direction.OUT, Direction.INTERNAL])(
  'the reply to a ticket of direction %i has the same recipients',
  (direction) => {
    expect(replyRecipients({ ...ticket, direction })).toEqual({ to: ['desk'], cc: ['lee'], bcc: ['max'] });
  },
);

test('a system ticket has no reply', () => {
  expect(replyRecipients({ ...ticket, channel: Channel.SYSTEM, direction: Direction.IN })).toBeNull();
});
