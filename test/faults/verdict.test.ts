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
  ...more,
});

/** Ticket 1 in three versions, ticket 2 deleted in its second, tag 1 renamed, a bulk on ticket 1. */
function given(): { ledger: Ledger; observed: Observed } {
  const ledger = new Ledger();
  ledger.ticketChanged(1, { version: 1, ...open });
  ledger.ticketChanged(2, { version: 1, ...open });
  ledger.ticketChanged(1, { version: 3, ...open });
  ledger.bulkSent({ agentId: 900, ticketIds: [1], outcome: 'acknowledged' });
  ledger.deleting(2);
  ledger.deleted(2);
  ledger.tagCreated(1, 'red');
  ledger.tagRenaming(1, 'blue');
  ledger.tagRenamed(1, 'blue');
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

test('finds nothing wrong where all is there', () => {
  const verdict = judged(() => undefined);
  expect(hasFailed(verdict)).toBe(false);
  expect(verdict).toMatchObject({ published: 7, delivered: 7, duplicates: 0 });
});

test('counts what came twice, also in an old order, as no fault', () => {
  const verdict = judged(({ observed }) => ({ messages: [...observed.messages, ...observed.messages] }));
  expect(findings(verdict)).toEqual([]);
  expect(verdict).toMatchObject({ published: 7, delivered: 14, duplicates: 7 });
});

describe('lost', () => {
  test('an acknowledged version that is not on the bus', () => {
    const verdict = judged(({ observed }) => ({ messages: without(observed, 1, 3) }));
    expect(verdict.lost).toEqual([
      'ticket 1 version 3 is not on the bus',
      'ticket 1 is shown in version 3, and only 2 is on the bus',
    ]);
  });

  test('a version in the middle, whose followers then leave a gap', () => {
    const verdict = judged(({ observed }) => ({ messages: without(observed, 1, 1) }));
    expect(verdict.lost).toEqual(['ticket 1 version 1 is not on the bus']);
    expect(verdict.outOfOrder).toEqual(['ticket 1: version 2 comes after 0 on the bus']);
  });

  test('a deletion that is not on the bus', () => {
    const verdict = judged(({ observed }) => ({ messages: without(observed, 2, 2) }));
    expect(verdict.lost).toEqual([
      'ticket 2: its deletion is not on the bus',
      'ticket 2 is not shown, and was not deleted',
    ]);
  });

  test('a ticket that the API does not show', () => {
    expect(judged(() => ({ tickets: [], rows: [] })).lost).toEqual(['ticket 1 is not shown, and was not deleted']);
  });

  test('a ticket that is deleted though nobody asked for it', () => {
    const verdict = judged(({ ledger }) => void ledger.deletions.clear());
    expect(verdict.lost).toEqual(['ticket 2 was deleted by nobody']);
  });

  test('a state that is older than the one acknowledged', () => {
    const verdict = judged(() => ({ tickets: [ticket(1, 2)], rows: [row(1, 2)] }));
    expect(verdict.lost).toEqual(['ticket 1 is shown in version 2, after 3 was acknowledged']);
    expect(verdict.unfounded).toEqual(['ticket 1 is shown in version 2, and 3 is on the bus']);
  });

  test('a state that another change of the same version has taken the place of', () => {
    const closed = { ...ticket(1, 3), status: 'closed' };
    const verdict = judged(() => ({ tickets: [closed], rows: [{ ...row(1, 3), status: 'closed' }] }));
    expect(verdict.lost).toEqual([
      'ticket 1 version 3 shows closed, low, tags [], acknowledged was open, low, tags []',
    ]);
  });

  test('one of two changes that were told to have made the same version', () => {
    const verdict = judged(({ ledger }) => void ledger.ticketChanged(1, { version: 3, ...open }));
    expect(verdict.lost).toEqual(['ticket 1 version 3 was acknowledged for two changes']);
  });

  test('a name of a tag', () => {
    expect(judged(() => ({ tags: new Map([[1, 'red']]) })).lost).toEqual([
      'tag 1 shows the name red, acknowledged was blue',
    ]);
    expect(judged(() => ({ tags: new Map() })).lost).toEqual(['tag 1 is not shown']);
  });
});

test('a name that was sent after the last that was acknowledged may show', () => {
  const verdict = judged(({ ledger }) => {
    ledger.tagRenaming(1, 'green');
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
  const bulkOf = (outcome: 'acknowledged' | 'refused' | 'unknown', ticketIds: number[]) =>
    judged(({ ledger }) => void ledger.bulks.splice(0, 1, { agentId: 900, ticketIds, outcome })).tornBulks;

  test('that was acknowledged has changed every ticket that is not deleted', () => {
    expect(bulkOf('acknowledged', [1, 2])).toEqual([]);
    expect(bulkOf('acknowledged', [1, 3])).toHaveLength(1);
  });

  test('that was refused has changed none', () => {
    expect(bulkOf('refused', [1])).toHaveLength(1);
  });

  test('of which no answer came has changed all or none', () => {
    expect(bulkOf('unknown', [1])).toEqual([]);
    expect(bulkOf('unknown', [1, 3])).toHaveLength(1);
    expect(
      judged(({ ledger }) => void ledger.bulkSent({ agentId: 7, ticketIds: [1], outcome: 'unknown' })).tornBulks,
    ).toEqual([]);
  });
});

describe('rows', () => {
  test('that are missing, stale or left over differ', () => {
    expect(judged(() => ({ rows: [] })).rowsThatDiffer).toEqual(['ticket 1 has no row']);
    expect(judged(() => ({ rows: [row(1, 2)] })).rowsThatDiffer).toEqual([
      'the row of ticket 1 has the version 2, not 3',
    ]);
    expect(judged(() => ({ rows: [{ ...row(1, 3), tagNames: 'red' }] })).rowsThatDiffer).toHaveLength(1);
    expect(judged(() => ({ rows: [row(1, 3), row(9, 1)] })).rowsThatDiffer).toEqual(['row 9 has no ticket']);
    expect(judged(() => ({ rows: [row(1, 3), row(1, 3)] })).rowsThatDiffer).toEqual(['1 rows stand twice']);
  });
});

describe('what was deleted comes back', () => {
  test('as a ticket or a row', () => {
    const verdict = judged(() => ({ tickets: [ticket(1, 3), ticket(2, 2)], rows: [row(1, 3), row(2, 2)] }));
    expect(verdict.cameBack).toEqual(['ticket 2 was deleted, and is shown', 'ticket 2 was deleted, and has a row']);
  });

  test('by a change that follows its deletion', () => {
    const verdict = judged(({ observed: { messages } }) => ({ messages: [...messages, message(2, 3)] }));
    expect(verdict.cameBack).toEqual(['ticket 2 was deleted in version 2, and changed afterwards']);
  });
});
