import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { FilterSchema } from '@ticketing/contracts/ticketing/api/v1/filter_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Condition, readFilters } from '@ticketing/rest/codec/filter.ts';
import { describe, expect, test } from 'vitest';
import { filterKeys, orderKeys } from './keys.ts';

interface FilterInput {
  key: string;
  comparator: string;
  value?: JsonValue | undefined;
  values?: readonly JsonValue[];
  from?: JsonValue | undefined;
  to?: JsonValue | undefined;
}

const valueMessage = (json: JsonValue) => fromJson(ValueSchema, json);

function check(...filters: Partial<FilterInput>[]): Condition[] {
  const messages = filters.map(({ key = 't.id', comparator = '=', value, values = [], from, to }) =>
    create(FilterSchema, {
      key,
      comparator,
      values: values.map(valueMessage),
      ...(value === undefined ? {} : { value: valueMessage(value) }),
      ...(from === undefined ? {} : { from: valueMessage(from) }),
      ...(to === undefined ? {} : { to: valueMessage(to) }),
    }),
  );
  return readFilters(messages, filterKeys, 't.');
}

function problems(...filters: Partial<FilterInput>[]): string[] {
  try {
    check(...filters);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect([error.code, error.reason]).toEqual(['invalid_argument', 'invalid_filter']);
    return error.violations.map(({ pointer, code }) => `${pointer} ${code}`);
  }
  return [];
}

describe('a filter', () => {
  test('whose key has no prefix is about a field of the ticket', () => {
    expect(check({ key: 'agentId', value: 7 })).toEqual(check({ key: 't.agentId', value: 7 }));
    expect(problems({ key: 'tagId', value: 7 })).toEqual(['#/filters/0/key unknown_filter_key']);
  });

  test.each<[string, Partial<FilterInput>, object]>([
    ['= matches the value only', { comparator: '=', value: 1 }, { operator: 'in', values: [1], orUnset: false }],
    ['= null matches nothing', { comparator: '=', value: null }, { operator: 'in', values: [], orUnset: false }],
    ['equal is =', { comparator: 'equal', value: 1 }, { operator: 'in', values: [1], orUnset: false }],
    ['!= matches unset too', { comparator: '!=', value: 1 }, { operator: 'notIn', values: [1], orUnset: true }],
    [
      '!= null matches all that is set',
      { comparator: '!=', value: null },
      { operator: 'notIn', values: [], orUnset: false },
    ],
    [
      'in with null matches unset',
      { comparator: 'in', values: [1, null] },
      { operator: 'in', values: [1], orUnset: true },
    ],
    [
      'in without null does not match unset',
      { comparator: 'in', values: [1, 2] },
      { operator: 'in', values: [1, 2], orUnset: false },
    ],
    ['not in matches unset', { comparator: 'not in', values: [1] }, { operator: 'notIn', values: [1], orUnset: true }],
    [
      'not in with null does not match unset',
      { comparator: 'not in', values: [null, 1] },
      { operator: 'notIn', values: [1], orUnset: false },
    ],
  ])('%s', (_, filter, condition) => {
    expect(check(filter)).toEqual([{ key: 't.id', ...condition }]);
  });

  test.each([
    ['<', 0],
    ['<=', 86_399],
    ['>', 86_399],
    ['>=', 0],
  ])(
    '%s compares with second %i of a date without a time, and with the exact time of other dates',
    (comparator, plus) => {
      const day = Date.UTC(2026, 1, 28) / 1000;
      const key = 't.dueBy';
      expect(check({ key, comparator, value: '2026-02-28' })).toEqual([
        { key, operator: comparator, value: day + plus },
      ]);
      for (const value of ['2026-02-28 00:00:00', '2026-02-28T01:00:00+01:00', '2026-02-28T00:00:00.999Z', day]) {
        expect(check({ key, comparator, value })).toEqual([{ key, operator: comparator, value: day }]);
      }
    },
  );

  test('between treats a date as the whole day, = and in treat it as its first second', () => {
    const day = Date.UTC(2026, 1, 28) / 1000;
    const key = 't.dueBy';
    expect(check({ key, comparator: 'between', from: '2026-02-28', to: '2026-02-28' })).toEqual([
      { key, operator: 'between', from: day, to: day + 86_399 },
    ]);
    expect(check({ key, comparator: 'in', values: ['2026-02-28'] })).toMatchObject([{ values: [day] }]);
  });

  test('of the priority compares its rank', () => {
    const values = ['low', 'medium', 'high', 'urgent'];
    const [condition] = check({ key: 'priority', comparator: 'in', values });
    const ranks = condition?.operator === 'in' ? condition.values.map(Number) : [];
    expect(ranks).toEqual([...ranks].sort((left, right) => left - right));
    expect(new Set(ranks).size).toBe(4);
  });

  test('accepts an integer as text, and a number as the text of an id', () => {
    expect(check({ value: '7' }, { key: 'customerId', value: 4711 })).toMatchObject([
      { values: [7] },
      { values: ['4711'] },
    ]);
  });

  test.each([1.5, '1.5', '1e3', '', ' 1', '0x1', true, [1], { $gt: 0 }, 1e16, '1'.repeat(16)])(
    'refuses %j as an integer',
    (value) => expect(problems({ value })).toEqual(['#/filters/0/value invalid_filter_value']),
  );

  test.each([
    '2026-02-29',
    '2026-13-01',
    '2026-1-1',
    '20260101',
    '2026-01-01 24:00',
    '',
    1.5,
    8.64e15,
    -1e12,
    true,
    [],
  ])('refuses %j as a time', (value) =>
    expect(problems({ key: 'dueBy', value })).toEqual(['#/filters/0/value invalid_filter_value']),
  );

  test('accepts 512 characters, however many bytes, but not 513', () => {
    expect(problems({ key: 'subject', value: '😀'.repeat(512) })).toEqual([]);
    expect(problems({ key: 'subject', value: 'x'.repeat(513) })).toEqual(['#/filters/0/value too_long']);
  });

  test('requires the values that its comparator needs', () => {
    expect(
      problems(
        {},
        { comparator: 'in' },
        { comparator: 'not in', value: 1 },
        { comparator: 'between', from: 1 },
        { comparator: '<' },
      ),
    ).toEqual([
      '#/filters/0/value required',
      '#/filters/1/values required',
      '#/filters/2/values required',
      '#/filters/3/to required',
      '#/filters/4/value required',
    ]);
  });

  test.each([
    ['like', 't.id'],
    ['like', 't.dueBy'],
    ['like', 't.status'],
    ['like', 'tt.tagId'],
    ['<', 't.isCustomerActive'],
    ['between', 't.isCustomerActive'],
    ['!=', 'q'],
    ['like', 'q'],
    ['in', 'q'],
    ['matches', 't.id'],
    ['constructor', 't.id'],
  ])('with %s of %s is refused', (comparator, key) => {
    const filter = { key, comparator, value: 1, values: [1], from: 1, to: 2 };
    expect(problems(filter)).toEqual(['#/filters/0/comparator invalid_filter_value']);
  });
});

test('every problem of every filter is listed', () => {
  expect(
    problems(
      { key: 'x' },
      { value: 1 },
      { comparator: 'between', from: 'a', to: {} },
      { comparator: 'in', values: [1, 'a', null, []] },
    ),
  ).toEqual([
    '#/filters/0/key unknown_filter_key',
    '#/filters/2/from invalid_filter_value',
    '#/filters/2/to invalid_filter_value',
    '#/filters/3/values/1 invalid_filter_value',
    '#/filters/3/values/3 invalid_filter_value',
  ]);
});

test('every order key is a filter key; there are eight more filter keys', () => {
  for (const key of orderKeys.keys()) expect(filterKeys.has(key)).toBe(true);
  expect([...filterKeys.keys()].filter((key) => !orderKeys.has(key))).toEqual([
    't.spamStatus',
    't.externalTicketId',
    't.subject',
    't.summary',
    't.callerNumber',
    't.closedAt',
    't.createdBy',
    'q',
  ]);
});
