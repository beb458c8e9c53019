import { Channel, Direction, Priority, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { describe, expect, test } from 'vitest';
import { type Author, newTicket } from './change.ts';
import type { TicketInput } from './fields.ts';
import { noSla } from './sla.ts';

const now = 1_800_000_000;
const person = { profileId: 21, isHuman: true };
const machine = { profileId: 22, isHuman: false };
const chat: TicketInput = { channel: Channel.CHAT };

function created(input: TicketInput, creator: Author = person, lastAgentRouting = false) {
  return newTicket({ ...chat, ...input }, { id: 5, now, creator, lastAgentRouting, sla: noSla });
}

describe('a new ticket', () => {
  // spec: 6.13, 21.23
  test('has the defaults of the API', () => {
    expect(created({})).toMatchObject({
      id: 5,
      version: 1,
      direction: Direction.IN,
      status: TicketStatus.OPEN,
      priority: Priority.LOW,
      to: [],
      cc: [],
      bcc: [],
      createdAt: now,
      modifiedAt: now,
      createdBy: 21,
      closedAt: null,
    });
  });

  // spec: 6.37
  test('keeps a given createdAt; modifiedAt is the current time', () => {
    expect(created({ createdAt: 1000 })).toMatchObject({ createdAt: 1000, modifiedAt: now });
  });

  test('has the current time as closedAt if its status is closed', () => {
    expect(created({ status: TicketStatus.CLOSED, createdAt: 1000 }).closedAt).toBe(now);
    expect(created({ status: TicketStatus.PENDING }).closedAt).toBeNull();
  });

  test.each([
    [Direction.IN, 1000, 1000],
    [Direction.OUT, 1000, null],
    [Direction.INTERNAL, 1000, null],
  ])('with a body, in direction %i, has lastMessageAt %s and lastCustomerMessageAt %s', (direction, last, customer) => {
    const ticket = created({ direction, body: 'Hi', createdAt: 1000 });
    expect([ticket.lastMessageAt, ticket.lastCustomerMessageAt]).toEqual([last, customer]);
  });

  // spec: 6.33
  test('without a body has no message', () => {
    const none = { lastMessageAt: null, lastCustomerMessageAt: null, body: null, bodyPlain: null, bodyClean: null };
    expect(created({})).toMatchObject(none);
  });

  test('has no sender on channel system', () => {
    expect(created({ channel: Channel.SYSTEM, from: 'cron' }).from).toBeNull();
    expect(created({ channel: Channel.PHONE, from: '+49' }).from).toBe('+49');
  });
});

describe('the assignment of a new ticket', () => {
  test.each([
    ['the given agent', { agentId: 9 }, person, true, 9],
    ['the given agent, for a machine', { agentId: 9 }, machine, true, 9],
    ['the given agent, while the setting is off', { agentId: 9 }, person, false, 9],
    ['the person who creates it', {}, person, true, 21],
    ['nobody, while the setting is off', {}, person, false, null],
    ['nobody, for a machine', {}, machine, true, null],
    ['nobody, for a service that is no profile', {}, { profileId: null, isHuman: false }, true, null],
    // spec: 21.25
  ] as const)('is to %s', (_, input, creator, lastAgentRouting, agentId) => {
    expect(created(input, creator, lastAgentRouting).agentId).toBe(agentId);
  });
});
