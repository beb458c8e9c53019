import { Channel, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { describe, expect, test } from 'vitest';
import { tagState } from '../../../test/tag-state.ts';
import { tagTree } from '../../tag/rules.ts';
import { newTicket } from './change.ts';
import { decidePatch, type PatchContext, type TicketPatch, tagViolations } from './patch.ts';
import { noSla } from './sla.ts';

const now = 1_800_000_000;
const person = { profileId: 21, isHuman: true };
const machine = { profileId: 22, isHuman: false };
const ticket = newTicket(
  { channel: Channel.CHAT, subject: 'a', tagIds: [1, 2] },
  { id: 5, now: now - 60, creator: person, lastAgentRouting: false, sla: noSla },
);
const header = { eventId: 'evt_1', actor: { profileId: 21, kind: 'user' } };

function patch(given: Partial<TicketPatch>): TicketPatch {
  return { input: {}, addTagIds: [], removeTagIds: [], workedOnBy: undefined, ...given };
}

function decide(given: Partial<TicketPatch>, context: Partial<PatchContext> = {}) {
  const whole = { author: person, now, includeInWorklog: true, sla: noSla, header, ...context };
  return decidePatch({ ticket, workedOn: [] }, patch(given), whole);
}

describe('a patch', () => {
  test('makes a new version, its event and an entry of the worklog', () => {
    expect(decide({ input: { subject: 'b' } })).toEqual({
      change: {
        after: { ...ticket, subject: 'b', version: 2, modifiedAt: now },
        changed: ['subject'],
        event: expect.objectContaining({
          ...header,
          type: 'ticket.updated',
          version: 2,
          changes: [{ field: 'subject' }],
        }),
        worklogEntry: { profileId: 21, at: now, fields: ['subject'] },
      },
      workedOn: undefined,
    });
  });

  test.each([
    ['by a machine', { author: machine }],
    ['by a service', { author: { profileId: null, isHuman: false } }],
    ['with includeInWorklog=false', { includeInWorklog: false }],
  ])('%s makes no entry of the worklog', (_, context) => {
    expect(decide({ input: { subject: 'b' } }, context).change?.worklogEntry).toBeUndefined();
  });

  // spec: 17.5
  test('without a difference makes no change, unless it contains a status', () => {
    expect(decide({ input: { subject: 'a' } })).toEqual({ workedOn: undefined });
    const { change } = decide({ input: { status: TicketStatus.OPEN } });
    expect([change?.after.version, change?.changed]).toEqual([2, []]);
  });

  test('adds and removes tags', () => {
    expect(decide({ addTagIds: [3, 1], removeTagIds: [2, 9] }).change?.after.tagIds).toEqual([1, 3]);
  });

  test('changes who works on the ticket, without a new version', () => {
    expect(decide({ workedOnBy: 7 })).toMatchObject({ workedOn: { after: [{ profileId: 7, at: now }] } });
    expect(decide({ workedOnBy: null })).toMatchObject({ workedOn: { removedIds: [21] } });
    expect(decide({ workedOnBy: null }, { author: { profileId: null, isHuman: false } })).toEqual({});
  });
});

describe('the tags of a patch', () => {
  const tree = tagTree([tagState(1), tagState(2)]);
  test.each<[string, Partial<TicketPatch>, string[]]>([
    ['must exist to be set', { input: { tagIds: [1, 8] } }, ['#/0/tagIds/1 unknown_tag']],
    ['must exist to be added', { addTagIds: [8] }, ['#/0/addTagIds/0 unknown_tag']],
    ['need not exist to be removed', { removeTagIds: [8] }, []],
    ['are set or changed, not both', { input: { tagIds: [] }, removeTagIds: [1] }, ['#/0/tagIds conflicting_tags']],
    ['are added or removed, not both', { addTagIds: [2, 1], removeTagIds: [1] }, ['#/0/addTagIds/1 conflicting_tags']],
  ])('%s', (_, given, expected) => {
    const violations = tagViolations(patch(given), tree, '#/0');
    expect(violations.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual(expected);
  });
});
