import { Channel, Priority, SpamStatus, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { changeFields } from './change.ts';
import { withAutoExecution } from './decision.ts';
import { updatedEvent } from './event.ts';
import { initialTicket, type TicketInput } from './fields.ts';

const at = 1_800_000_000;
const later = at + 60;
const header = { eventId: 'evt_1', actor: { profileId: null, kind: 'system' } };
const before = { ...initialTicket, id: 5, version: 3, channel: Channel.EMAIL, tagIds: [1] };

function change(
  { autoExecuteAt = at, ...input }: TicketInput & { autoExecuteAt?: number | null },
  {
    isByPerson = false,
    cause = 'request' as const,
    spamTagId = null as number | null,
    after = undefined as number | null | undefined,
  },
) {
  const ticket = { ...before, autoExecuteAt };
  const changed = changeFields(ticket, { ...input, ...(after === undefined ? {} : { autoExecuteAt: after }) }, at);
  const recorded = { ...changed, event: { ...updatedEvent(ticket, changed, header), cause } };
  const ended = withAutoExecution(ticket, recorded, { isByPerson, spamTagId });
  const listed = ended.event.changes.filter(({ field }) => field !== 'priority' && field !== 'status');
  return { at: ended.after.autoExecuteAt, noted: ended.after.interventionVersion, changed: ended.changed, listed };
}

const priority = Priority.HIGH;
const ends = [{ field: 'autoExecuteAt', oldValue: '2027-01-15T08:00:00Z', newValue: null }];

test('a change by a machine leaves the time, or sets another one', () => {
  expect(change({ priority }, {})).toEqual({ at, noted: 0, changed: ['priority'], listed: [] });
  expect(change({ priority }, { after: later })).toMatchObject({ at: later, noted: 0 });
});

test('a change by a person, or a message, ends it and is noted, also without a time', () => {
  const all = ['priority', 'interventionVersion'];
  expect(change({ priority }, { isByPerson: true })).toEqual({
    at: null,
    noted: 4,
    changed: [...all, 'autoExecuteAt'],
    listed: ends,
  });
  expect(change({ priority }, { cause: 'message' as never })).toMatchObject({ at: null, noted: 4, listed: ends });
  expect(change({ priority, autoExecuteAt: null }, { isByPerson: true })).toEqual({
    at: null,
    noted: 4,
    changed: all,
    listed: [],
  });
});

test('what a change by a person sets itself counts no more, and is listed as it is afterwards', () => {
  expect(change({ priority }, { isByPerson: true, after: later })).toMatchObject({ at: null, listed: ends });
  const none = change({ priority, autoExecuteAt: null }, { isByPerson: true, after: later });
  expect(none).toMatchObject({ at: null, listed: [] });
  expect(none.changed).not.toContain('autoExecuteAt');
});

test.each<[string, TicketInput, number | null]>([
  ['closes the ticket', { status: TicketStatus.CLOSED }, null],
  ['makes it spam', { spamStatus: SpamStatus.AUTO_SPAM }, null],
  ['is about a ticket with the spam tag', { priority }, 1],
])('a change by a machine that %s ends it, and is no intervention', (_, input, spamTagId) => {
  const result = change(input, { spamTagId });
  expect([result.at, result.noted]).toEqual([null, 0]);
  expect(result.listed).toContainEqual(ends[0]);
});
