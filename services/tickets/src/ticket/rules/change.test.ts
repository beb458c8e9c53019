import { Channel, Direction, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { describe, expect, test } from 'vitest';
import { changedFields, changeFields, newTicket, setFields } from './change.ts';
import type { TicketInput } from './fields.ts';
import { noSla } from './sla.ts';

const now = 1_800_000_000;

function created(input: TicketInput) {
  const context = { id: 5, now, creator: { profileId: 21, isHuman: true }, lastAgentRouting: false, sla: noSla };
  return newTicket({ channel: Channel.CHAT, ...input }, context);
}

describe('a change', () => {
  const before = { ...created({ subject: 'a', status: TicketStatus.OPEN, tagIds: [1, 2] }), modifiedAt: 1000 };

  // spec: 6.38
  test('raises the version by one, and sets modifiedAt', () => {
    const { after, changed } = changeFields(before, { subject: 'b' }, now);
    expect(after).toEqual({ ...before, subject: 'b', version: 2, modifiedAt: now });
    expect(changed).toEqual(['subject']);
  });

  test('to the same values returns the same object', () => {
    const { after, changed } = changeFields(before, { subject: 'a', tagIds: [1, 2], channel: Channel.CHAT }, now);
    expect(after).toBe(before);
    expect(changed).toEqual([]);
  });

  test('by setFields makes a new version, though no value differs', () => {
    const { after, changed } = setFields(before, { status: TicketStatus.OPEN }, now);
    expect(after).toEqual({ ...before, version: 2, modifiedAt: now });
    expect(changed).toEqual([]);
  });

  // spec: 6.53
  test('replaces the tags', () => {
    expect(changeFields(before, { tagIds: [3] }, now)).toMatchObject({ after: { tagIds: [3] }, changed: ['tagIds'] });
  });

  test('to the status closed sets closedAt once; a change to another status clears it', () => {
    const closed = changeFields(before, { status: TicketStatus.CLOSED }, 2000).after;
    expect(closed.closedAt).toBe(2000);
    expect(changeFields(closed, { subject: 'c', status: TicketStatus.CLOSED }, 3000).after.closedAt).toBe(2000);
    expect(changeFields(closed, { status: TicketStatus.PENDING }, 3000).after.closedAt).toBeNull();
  });

  test('of the body changes the texts that are made of it, and of these alone is no change', () => {
    const texts = { bodyHtml: '<b>neu</b>', bodyPlain: 'neu', bodyClean: 'neu', bodyRules: 1 };
    const { changed } = changeFields(before, { body: '<b>neu</b>', ...texts }, now);
    expect([...changed].sort()).toEqual(['body', 'bodyClean', 'bodyHtml', 'bodyPlain', 'bodyRules']);
    expect(changeFields({ ...before, body: '<b>neu</b>' }, { body: '<b>neu</b>', ...texts }, now).changed).toEqual([]);
  });

  // spec: 6.9
  test('to channel system removes the sender, and from outgoing e-mail the blind copies', () => {
    const mail = { ...before, channel: Channel.EMAIL, direction: Direction.OUT, from: 'kim', bcc: ['lee'] };
    expect(changeFields(mail, { channel: Channel.SYSTEM }, now).after).toMatchObject({ from: null, bcc: [] });
    expect(changeFields(mail, { direction: Direction.IN }, now).after).toMatchObject({ from: 'kim', bcc: [] });
    expect(changeFields(mail, { subject: 'z' }, now).after).toMatchObject({ from: 'kim', bcc: ['lee'] });
  });
});

test('lists are the same if they have the same items in the same order', () => {
  const ticket = { ...created({}), to: ['a', 'b'] };
  expect(changedFields(ticket, { ...ticket, to: ['a', 'b'] })).toEqual([]);
  expect(changedFields(ticket, { ...ticket, to: ['b', 'a'] })).toEqual(['to']);
  expect(changedFields(ticket, { ...ticket, to: ['a'] })).toEqual(['to']);
});
