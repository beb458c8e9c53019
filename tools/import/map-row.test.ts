import { expect, test } from 'vitest';
import { type MappingOptions, mapRow, planMapping } from './map-row.ts';

const plain: MappingOptions = { columns: new Map(), constants: new Map(), tagColumns: undefined, keepsRaw: true };

test('takes columns named like fields, tag columns, and keeps the others as raw data', () => {
  const mapping = planMapping(['Subject', 'priority', 'queue', 'empty', 'tag_1', 'tag_2'], plain);
  expect(mapRow(mapping, ['Hello', ' Critical', 'IT', '', ' VPN ', ''])).toEqual({
    ticket: { channel: 'email', subject: 'Hello', priority: 'urgent', rawData: { queue: 'IT' } },
    tagNames: ['VPN'],
    problems: [],
  });
});

test('takes an answer out of the ticket, unless it is mapped to an empty column name', () => {
  const answered = mapRow(planMapping(['body', 'answer'], plain), ['Frage', 'Antwort\n']);
  expect(answered).toEqual({
    ticket: { channel: 'email', body: 'Frage' },
    answer: 'Antwort\n',
    tagNames: [],
    problems: [],
  });
  expect(mapRow(planMapping(['answer'], plain), [' ']).answer).toBeUndefined();
  const kept = mapRow(planMapping(['answer'], { ...plain, columns: new Map([['answer', '']]) }), ['Antwort']);
  expect([kept.answer, kept.ticket.rawData]).toEqual([undefined, { answer: 'Antwort' }]);
});

test('takes an answer of 5 MiB, and not of one byte more', () => {
  const mapping = planMapping(['answer'], plain);
  const most = `${'ü'.repeat(2.5 * 1024 * 1024)}`;
  expect(mapRow(mapping, [most])).toMatchObject({ answer: most, problems: [] });
  expect(mapRow(mapping, [`${most}x`]).problems).toEqual([expect.stringMatching(/^#\/answer: .*at most 5 MiB/)]);
});

test('prefers a column named by --map to one named like the field, and a cell to a constant', () => {
  const mapping = planMapping(['subject', 'Betreff', 'state', 'an', 'wann'], {
    ...plain,
    columns: new Map([
      ['subject', 'Betreff'],
      ['status', 'state'],
      ['to', 'an'],
      ['createdAt', 'wann'],
    ]),
    constants: new Map([
      ['status', 'Pending'],
      ['channel', 'phone'],
    ]),
    keepsRaw: false,
  });
  const first = mapRow(mapping, ['a', 'b', 'closed', 'x@example.org; y@example.org', '1700000000']);
  expect(first.ticket).toEqual({
    channel: 'phone',
    subject: 'b',
    status: 'closed',
    to: ['x@example.org', 'y@example.org'],
    createdAt: 1_700_000_000,
  });
  expect(mapRow(mapping, ['a', 'b', '', '', '']).ticket.status).toBe('pending');
});

test('writes a subject and a name of several lines in one line, and takes one address from each line', () => {
  const mapping = planMapping(['subject', 'fromName', 'to', 'body'], plain);
  expect(mapRow(mapping, ['Zähler\r\n\tdefekt \n', 'Ada\nLovelace', 'a@b.de\r\nc@d.de', 'a\nb']).ticket).toEqual({
    channel: 'email',
    subject: 'Zähler defekt',
    fromName: 'Ada Lovelace',
    to: ['a@b.de', 'c@d.de'],
    body: 'a\nb',
  });
});

test('does not import a field that is mapped to an empty column name', () => {
  const mapping = planMapping(['from'], { ...plain, columns: new Map([['from', '']]) });
  expect(mapRow(mapping, ['somebody']).ticket).toEqual({ channel: 'email', rawData: { from: 'somebody' } });
});

test('reports the field and text of an invalid value', () => {
  const mapping = planMapping(['priority', 'agentId'], plain);
  expect(mapRow(mapping, ['huge', '-3']).problems).toEqual([
    '#/priority: "huge" is not one of low, medium, normal, high, urgent, critical',
    '#/agentId: "-3" is not a positive whole number',
  ]);
});

test('lists the known columns if a column is unknown, and the known fields if a field is', () => {
  const header = ['subject', 'body'];
  expect(() => planMapping(header, { ...plain, columns: new Map([['subject', 'title']]) })).toThrow(
    'There is no column "title". The columns are: subject, body.',
  );
  expect(() => planMapping(header, { ...plain, tagColumns: ['kind'] })).toThrow(/"kind".*subject, body/);
  expect(() => planMapping(header, { ...plain, columns: new Map([['externalTicketId', 'body']]) })).toThrow(
    /"externalTicketId" is not a field to import/,
  );
});

test('does not import the columns that a reject file adds', () => {
  const mapping = planMapping(['import_line', 'import_row', 'import_reasons', 'queue'], plain);
  expect(mapRow(mapping, ['2', '1', 'why', 'IT']).ticket.rawData).toEqual({ queue: 'IT' });
});
