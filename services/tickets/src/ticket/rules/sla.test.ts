import { Channel, Direction, Priority } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { describe, expect, test } from 'vitest';
import { tagState } from '../../../test/tag-state.ts';
import { tagTree } from '../../tag/rules.ts';
import { businessTime } from './business-time.ts';
import { newTicket } from './change.ts';
import type { TicketInput } from './fields.ts';
import { type SlaRules, withStricterTargets } from './sla.ts';

const now = 1_800_000_000;
const tree = tagTree([
  tagState(1),
  tagState(2, null, { sla: 3600, priority: Priority.MEDIUM }),
  tagState(3, null, { sla: 1800, firstResponseSla: 900, priority: Priority.HIGH }),
  tagState(4, null, { firstResponseSla: 600 }),
  tagState(5, null, { priority: Priority.LOW }),
]);
const sla: SlaRules = { findTag: tree.get, businessTime: businessTime(undefined) };

function created(input: TicketInput) {
  const creator = { profileId: 21, isHuman: true };
  return newTicket({ channel: Channel.CHAT, ...input }, { id: 5, now, creator, lastAgentRouting: false, sla });
}

const targets = ({ dueBy, firstResponseDueBy, priority }: ReturnType<typeof created>) => [
  dueBy === null ? null : dueBy - now,
  firstResponseDueBy === null ? null : firstResponseDueBy - now,
  priority,
];

describe('a new ticket', () => {
  test.each([
    [[], [null, null, Priority.LOW]],
    [[1], [null, null, Priority.LOW]],
    [[9], [null, null, Priority.LOW]],
    [[2], [3600, null, Priority.MEDIUM]],
    [[4], [null, 600, Priority.LOW]],
    [
      [2, 3],
      [1800, 900, Priority.HIGH],
    ],
    [
      [3, 2, 4, 5],
      [1800, 600, Priority.HIGH],
    ],
  ])('with the tags %j has the shortest SLA and the highest priority of them', (tagIds, expected) => {
    expect(targets(created({ tagIds }))).toEqual(expected);
  });

  test('keeps what is given, also if its tags are stricter', () => {
    const given = { dueBy: now + 7200, firstResponseDueBy: now + 7200, priority: Priority.LOW };
    expect(targets(created({ tagIds: [3], ...given }))).toEqual([7200, 7200, Priority.LOW]);
    expect(targets(created({ tagIds: [3], dueBy: now + 7200 }))).toEqual([7200, 900, Priority.HIGH]);
  });

  test('counts from its createdAt', () => {
    expect(targets(created({ tagIds: [3], createdAt: now - 1800 }))).toEqual([0, -900, Priority.HIGH]);
  });

  test.each([
    [Direction.IN, [1, 0, 0]],
    [Direction.OUT, [0, 1, 0]],
    [Direction.INTERNAL, [0, 0, 1]],
  ])('with a body, in direction %i, counts one message', (direction, expected) => {
    const counts = (input: TicketInput) => {
      const { incomingMessages, outgoingMessages, internalMessages } = created(input);
      return [incomingMessages, outgoingMessages, internalMessages];
    };
    expect(counts({ direction, body: 'Hi' })).toEqual(expected);
    expect(counts({ direction })).toEqual([0, 0, 0]);
  });
});

describe('a change', () => {
  const before = created({ tagIds: [2] });

  test('of tags makes deadlines only shorter and the priority only higher', () => {
    expect(withStricterTargets(before, { tagIds: [2, 3] }, sla)).toEqual({
      tagIds: [2, 3],
      dueBy: now + 1800,
      firstResponseDueBy: now + 900,
      priority: Priority.HIGH,
    });
    const strict = created({ tagIds: [3] });
    expect(withStricterTargets(strict, { tagIds: [2, 4, 5] }, sla)).toEqual({
      tagIds: [2, 4, 5],
      dueBy: now + 1800,
      firstResponseDueBy: now + 600,
      priority: Priority.HIGH,
    });
    expect(withStricterTargets(strict, { tagIds: [] }, sla)).toMatchObject({
      dueBy: now + 1800,
      firstResponseDueBy: now + 900,
      priority: Priority.HIGH,
    });
  });

  test('keeps what it sets itself, also null', () => {
    const given = { tagIds: [3], dueBy: null, firstResponseDueBy: now + 9999, priority: Priority.LOW };
    expect(withStricterTargets(before, given, sla)).toEqual(given);
  });

  test('of tags sets a deadline again that was cleared, and not one second beyond the stored one', () => {
    expect(withStricterTargets({ ...before, dueBy: null }, { tagIds: [1, 2] }, sla).dueBy).toBe(now + 3600);
    const [exact, shorter] = [3600, 3599].map((seconds) => ({ ...before, dueBy: now + seconds }));
    expect(withStricterTargets({ ...before, ...exact }, { tagIds: [1, 2] }, sla).dueBy).toBe(now + 3600);
    expect(withStricterTargets({ ...before, ...shorter }, { tagIds: [1, 2] }, sla).dueBy).toBe(now + 3599);
  });

  test('that leaves the tags as they are sets nothing else', () => {
    const cleared = { ...created({ tagIds: [2, 3] }), dueBy: null };
    expect(withStricterTargets(cleared, { tagIds: [3, 2] }, sla)).toEqual({ tagIds: [3, 2] });
    expect(withStricterTargets(cleared, { subject: 'b' }, sla)).toEqual({ subject: 'b' });
  });
});
