import { Channel, Direction, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { initialTicket, type TicketState } from '../../ticket/rules/fields.ts';
import { decideAddedMessage, type MessageContext } from './decision.ts';
import { type ConversationState, initialConversation } from './fields.ts';

const now = 1_800_000_000;
const addressed = { from: null, to: [], cc: [], bcc: [] };
const ticket: TicketState = {
  ...initialTicket,
  id: 1,
  channel: Channel.EMAIL,
  direction: Direction.IN,
  from: 'kim@example.com',
  to: ['support@example.org'],
  cc: ['boss@example.com'],
};

/** The latest message of the ticket after a message of this sender. */
function latestAfter(
  from: string | null,
  context: Partial<MessageContext> = {},
  before: Partial<TicketState> = {},
  externalConversationId: string | null = null,
) {
  const ids = { id: 2, ticketId: 1, externalConversationId };
  const message: ConversationState = { ...initialConversation, direction: Direction.IN, from, ...ids };
  const header = { eventId: 'e', actor: { profileId: 7, kind: 'service' } };
  const { change } = decideAddedMessage({ ...ticket, ...before }, message, { now, header, ...context });
  return change?.after;
}

// spec: 6.17
test('a message becomes the latest one, whoever sends it', () => {
  expect(latestAfter('eve@evil.org')?.latestMessage).toMatchObject({ from: 'eve@evil.org' });
});

test.each([
  ['kim@example.com', {}],
  ['KIM@Example.com', {}],
  ['support@example.org', {}],
  ['boss@example.com', {}],
  ['kim@home.example', { replyTo: ['Kim@home.example'] }],
  ['ada@example.com', { customerEmail: 'Ada@example.com' }],
  ['lee@example.com', { latestMessage: { ...addressed, direction: Direction.OUT, to: ['lee@example.com'] } }],
  ['lee@example.com', { latestMessage: { ...addressed, direction: Direction.OUT, bcc: ['lee@example.com'] } }],
  ['lee@example.com', { latestMessage: { ...addressed, direction: Direction.IN, from: 'lee@example.com' } }],
])('where only participants become the latest sender, %s does', (from, before) => {
  expect(latestAfter(from, { participant: from }, before)?.latestMessage).toMatchObject({ from });
});

test('a message of a program changes nothing but the messages of the ticket', () => {
  const before = { ...ticket, status: TicketStatus.CLOSED, closedAt: now - 5, lastMessageAt: now - 5, version: 3 };
  const after = latestAfter('kim@example.com', { isProgrammatic: true, input: { customerId: 'c' } }, before);
  expect(after).toEqual({ ...before, version: 4, modifiedAt: now });
});

test('the next mail answers the latest message of a person that is a mail', () => {
  const thread = { messageId: '<b@x>', references: ['<a@x>'] };
  const before = { lastMail: { messageId: '<a@x>', references: [] } };
  expect(latestAfter('kim@example.com', { thread }, before)?.lastMail).toEqual(thread);
  expect(latestAfter('kim@example.com', {}, before)?.lastMail).toEqual(before.lastMail);
  expect(latestAfter('kim@example.com', {}, before, '<c@x>')?.lastMail).toEqual({
    messageId: '<c@x>',
    references: ['<a@x>'],
  });
  expect(latestAfter('kim@example.com', {}, before, 'no mail')?.lastMail).toEqual(before.lastMail);
  expect(latestAfter('eve@evil.org', { thread, participant: 'eve@evil.org' }, before)?.lastMail).toEqual(
    before.lastMail,
  );
  expect(latestAfter('kim@example.com', { thread, isProgrammatic: true }, before)?.lastMail).toEqual(before.lastMail);
});

test.each(['eve@evil.org', null, ''])('where only participants become the latest sender, "%s" does not', (from) => {
  const added = latestAfter(from, { participant: from });
  expect(added).toMatchObject({ incomingMessages: 1, lastMessageAt: now, lastCustomerMessageAt: now });
  expect(added?.latestMessage).toBeNull();
});
