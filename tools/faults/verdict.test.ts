import { describe, expect, test } from 'vitest';
import { Ledger } from './ledger.ts';
import { findings, hasFailed, judge, type Observed, type ReadMessage, type ShownRow } from './verdict.ts';

const open = { status: 'open', priority: 'low', tagIds: '' };
const ticket = (id: number, version: number) => ({ id, version, ...open, tagNames: '' });
const row = (id: number, version: number): ShownRow => ({ ...ticket(id, version) });
const message = (id: number, version: number, more: Partial<ReadMessage> = {}): ReadMessage => ({
  subject: `ticket ${id}`,
  version,
  isDeletion: false,
  agentId: undefined,
  status: undefined,
  isReopening: false,
  event: undefined,
  ...more,
});

/** Ticket 1 in three versions, ticket 2 deleted in its second, tag 1 renamed, a bulk on ticket 1. */
function given(): { ledger: Ledger; observed: Observed } {
  const ledger = new Ledger();
  ledger.ticketChangeAcknowledged(1, { version: 1, ...open });
  ledger.ticketChangeAcknowledged(2, { version: 1, ...open });
  ledger.ticketChangeAcknowledged(1, { version: 3, ...open });
  ledger.bulkSent({ agentId: 900, ticketIds: [1], outcome: 'acknowledged' });
  ledger.deletionSent(2);
  ledger.deletionAcknowledged(2);
  ledger.tagCreationAcknowledged(1, 'red');
  ledger.tagRenameSent(1, 'blue');
  ledger.tagRenameAcknowledged(1, 'blue');
  const messages = [
    message(1, 1),
    message(2, 1),
    message(1, 2, { agentId: 900 }),
    message(1, 3),
    message(2, 2, { isDeletion: true }),
    message(1, 1, { subject: 'tag 1' }),
    message(1, 2, { subject: 'tag 1' }),
  ];
  return { ledger, observed: { messages, tickets: [ticket(1, 3)], tags: new Map([[1, 'blue']]), rows: [row(1, 3)] } };
}

function judged(change: (given: { ledger: Ledger; observed: Observed }) => Partial<Observed> | undefined) {
  const { ledger, observed } = given();
  return judge(ledger, { ...observed, ...change({ ledger, observed }) });
}

const without = (observed: Observed, id: number, version: number) =>
  observed.messages.filter((one) => one.subject !== `ticket ${id}` || one.version !== version);

test('finds nothing wrong if every acknowledged change is on the bus and shown', () => {
  const verdict = judged(() => undefined);
  expect(hasFailed(verdict)).toBe(false);
  expect(verdict).toMatchObject({ published: 7, delivered: 7, duplicates: 0 });
});

test('counts events that were delivered again, but does not report them as wrong', () => {
  const verdict = judged(({ observed }) => ({ messages: [...observed.messages, ...observed.messages] }));
  expect(findings(verdict)).toEqual([]);
  expect(verdict).toMatchObject({ published: 7, delivered: 14, duplicates: 7 });
});

test('reports a pending ticket that the scheduler has opened twice, and counts those that it has opened', () => {
  const scheduled = (times: number) => [
    message(1, 1, { status: 'pending' }),
    message(1, 2, { status: 'open', isReopening: true, agentId: 900 }),
    ...(times > 1 ? [message(1, 3, { isReopening: true })] : [message(1, 3)]),
  ];
  const judgedTimes = (times: number) =>
    judged(({ observed }) => ({ messages: [...scheduled(times), ...observed.messages] }));
  expect(findings(judgedTimes(1))).toEqual([]);
  expect(judgedTimes(1).reopenings).toBe(1);
  expect(judgedTimes(2).reopenedTwice).toEqual([
    'ticket 1 was opened by the scheduler in version 3, but was not pending',
  ]);
  expect(hasFailed(judgedTimes(2))).toBe(true);
});

describe('lost', () => {
  test('reports an acknowledged version that is not on the bus', () => {
    const verdict = judged(({ observed }) => ({ messages: without(observed, 1, 3) }));
    expect(verdict.lost).toEqual([
      'ticket 1 version 3 is not on the bus',
      'ticket 1 is shown in version 3, but the last event on the bus has version 2',
    ]);
  });

  test('reports a gap in the versions on the bus', () => {
    const verdict = judged(({ observed }) => ({ messages: without(observed, 1, 1) }));
    expect(verdict.lost).toEqual(['ticket 1 version 1 is not on the bus']);
    expect(verdict.outOfOrder).toEqual(['ticket 1: version 2 comes after 0 on the bus']);
  });

  test('reports a deletion that is not on the bus', () => {
    const verdict = judged(({ observed }) => ({ messages: without(observed, 2, 2) }));
    expect(verdict.lost).toEqual([
      'the deletion of ticket 2 is not on the bus',
      'ticket 2 is not shown, although it was not deleted',
    ]);
  });

  test('reports a ticket that the API does not show', () => {
    expect(judged(() => ({ tickets: [], rows: [] })).lost).toEqual([
      'ticket 1 is not shown, although it was not deleted',
    ]);
  });

  test('reports a ticket that is deleted although no deletion was sent', () => {
    const verdict = judged(({ ledger }) => void ledger.deletions.clear());
    expect(verdict.lost).toEqual(['ticket 2 is deleted, but no deletion was sent']);
  });

  test('reports a ticket that is shown in an older version than the acknowledged one', () => {
    const verdict = judged(() => ({ tickets: [ticket(1, 2)], rows: [row(1, 2)] }));
    expect(verdict.lost).toEqual(['ticket 1 is shown in version 2, after 3 was acknowledged']);
    expect(verdict.eventsWithoutChange).toEqual(['ticket 1 is shown in version 2, but version 3 is on the bus']);
  });

  test('reports a ticket that is shown in another state than was acknowledged for its version', () => {
    const closed = { ...ticket(1, 3), status: 'closed' };
    const verdict = judged(() => ({ tickets: [closed], rows: [{ ...row(1, 3), status: 'closed' }] }));
    expect(verdict.lost).toEqual([
      'ticket 1 version 3 is shown as closed, low, tags []; acknowledged was open, low, tags []',
    ]);
  });

  test('reports a version that was acknowledged for two different changes', () => {
    const verdict = judged(({ ledger }) => void ledger.ticketChangeAcknowledged(1, { version: 3, ...open }));
    expect(verdict.lost).toEqual(['ticket 1 version 3 was acknowledged for two changes']);
  });

  test('reports a tag that is not shown, or shown with another name than was acknowledged', () => {
    expect(judged(() => ({ tags: new Map([[1, 'red']]) })).lost).toEqual([
      'tag 1 is shown with the name red; acknowledged was blue',
    ]);
    expect(judged(() => ({ tags: new Map() })).lost).toEqual(['tag 1 is not shown']);
  });
});

test('accepts the name of a tag that was sent after the last acknowledged one', () => {
  const verdict = judged(({ ledger }) => {
    ledger.tagRenameSent(1, 'green');
    return { tags: new Map([[1, 'green']]) };
  });
  expect(findings(verdict)).toEqual([]);
});

test('reports swapped events as out of order', () => {
  const verdict = judged(({ observed: { messages } }) => {
    const [first, , second, third, ...others] = messages;
    return { messages: [first, third, second, message(2, 1), ...others].filter((one) => one !== undefined) };
  });
  expect(verdict.lost).toEqual([]);
  expect(verdict.outOfOrder).toEqual([
    'ticket 1: version 3 comes after 1 on the bus',
    'ticket 1: version 2 comes after 3 on the bus',
  ]);
});

describe('a bulk', () => {
  const toBulk = (outcome: 'acknowledged' | 'refused' | 'unknown', ticketIds: number[]) =>
    judged(({ ledger }) => void ledger.bulks.splice(0, 1, { agentId: 900, ticketIds, outcome })).partialBulks;

  test('that was acknowledged must have changed every ticket that is not deleted', () => {
    expect(toBulk('acknowledged', [1, 2])).toEqual([]);
    expect(toBulk('acknowledged', [1, 3])).toHaveLength(1);
  });

  test('that was refused must have changed no ticket', () => {
    expect(toBulk('refused', [1])).toHaveLength(1);
  });

  test('without a response must have changed all tickets or none', () => {
    expect(toBulk('unknown', [1])).toEqual([]);
    expect(toBulk('unknown', [1, 3])).toHaveLength(1);
    expect(
      judged(({ ledger }) => void ledger.bulkSent({ agentId: 7, ticketIds: [1], outcome: 'unknown' })).partialBulks,
    ).toEqual([]);
  });
});

describe('rows', () => {
  test('that are missing, stale, duplicate or without a ticket are reported', () => {
    expect(judged(() => ({ rows: [] })).rowsThatDiffer).toEqual(['ticket 1 has no row']);
    expect(judged(() => ({ rows: [row(1, 2)] })).rowsThatDiffer).toEqual([
      'the row of ticket 1 has the version 2, not 3',
    ]);
    expect(judged(() => ({ rows: [{ ...row(1, 3), tagNames: 'red' }] })).rowsThatDiffer).toHaveLength(1);
    expect(judged(() => ({ rows: [row(1, 3), row(9, 1)] })).rowsThatDiffer).toEqual(['row 9 has no ticket']);
    expect(judged(() => ({ rows: [row(1, 3), row(1, 3)] })).rowsThatDiffer).toEqual(['there are 1 duplicate rows']);
  });
});

describe('a deleted ticket is reported if it is seen again', () => {
  test('as a ticket or a row', () => {
    const verdict = judged(() => ({ tickets: [ticket(1, 3), ticket(2, 2)], rows: [row(1, 3), row(2, 2)] }));
    expect(verdict.revivedAfterDeletion).toEqual([
      'ticket 2 was deleted, but is shown',
      'ticket 2 was deleted, but has a row',
    ]);
  });

  test('by an event that follows its deletion', () => {
    const verdict = judged(({ observed: { messages } }) => ({ messages: [...messages, message(2, 3)] }));
    expect(verdict.revivedAfterDeletion).toEqual(['ticket 2 was deleted in version 2, but changed afterwards']);
  });
});
