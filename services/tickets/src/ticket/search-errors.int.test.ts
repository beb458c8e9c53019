import { withinTime } from '@ticketing/testkit/machine-limits.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { naiveKeys, type RawFilter } from '../../test/naive-filter.ts';
import { comparatorsOf, type SearchHarness, startSearch } from '../../test/naive-request.ts';
import { insertTickets, randomTickets } from '../../test/naive-ticket.ts';

let tickets: SearchHarness;
const count = 40;

beforeAll(async () => {
  tickets = await startSearch();
  await insertTickets(tickets, randomTickets(count, 1));
});
afterAll(() => tickets.stop());

interface Problem {
  pointer: string;
  code: string;
}

async function problems(body: unknown): Promise<[number, string, string[]]> {
  const { status, json } = await tickets.refused(body);
  return [status, json.code, (json.errors ?? []).map(({ pointer, code }: Problem) => `${pointer} ${code}`)];
}

const long = 'x'.repeat(513);
const status = { key: 't.status', comparator: '=' };

describe('a filter', () => {
  test.each<[string, object, string]>([
    ['an unknown key', { key: 't.colour', comparator: '=', value: 1 }, 'key unknown_filter_key'],
    ['an unknown prefix', { key: 'x.status', comparator: '=', value: 1 }, 'key unknown_filter_key'],
    ['a key of the prototype', { key: '__proto__', comparator: '=', value: 1 }, 'key unknown_filter_key'],
    ['a stored field that is not a key', { key: 'body', comparator: 'like', value: '%' }, 'key unknown_filter_key'],
    ['a status that does not exist', { ...status, value: 'resolved' }, 'value invalid_filter_value'],
    ['a status in another case', { ...status, value: 'Open' }, 'value invalid_filter_value'],
    ['a number as status', { ...status, value: 1 }, 'value invalid_filter_value'],
    ['a rank as priority', { key: 'priority', comparator: '>', value: 2 }, 'value invalid_filter_value'],
    ['a text as id', { key: 'id', comparator: '=', value: 'one' }, 'value invalid_filter_value'],
    ['an empty text as id', { key: 'id', comparator: '=', value: '' }, 'value invalid_filter_value'],
    ['a fraction as id', { key: 'id', comparator: '=', value: 1.5 }, 'value invalid_filter_value'],
    ['a number beyond the safe integers', { key: 'id', comparator: '=', value: 1e16 }, 'value invalid_filter_value'],
    ['a truth value as id', { key: 'id', comparator: '=', value: true }, 'value invalid_filter_value'],
    ['a truth value as text', { key: 'subject', comparator: '=', value: true }, 'value invalid_filter_value'],
    ['1 as truth value', { key: 'isCustomerActive', comparator: '=', value: 1 }, 'value invalid_filter_value'],
    ['an object', { key: 'subject', comparator: '=', value: { $gt: '' } }, 'value invalid_filter_value'],
    ['a list as value', { key: 'subject', comparator: '=', value: ['a'] }, 'value invalid_filter_value'],
    ['a list in a list', { key: 'id', comparator: 'in', values: [1, [2]] }, 'values/1 invalid_filter_value'],
    ['an object in a list', { key: 'id', comparator: 'in', values: [{ $ne: 1 }] }, 'values/0 invalid_filter_value'],
    ['30 February', { key: 'dueBy', comparator: '<', value: '2026-02-30' }, 'value invalid_filter_value'],
    ['hour 24', { key: 'dueBy', comparator: '<', value: '2026-02-03 24:00:00' }, 'value invalid_filter_value'],
    ['a date without month', { key: 'dueBy', comparator: '<', value: '2026' }, 'value invalid_filter_value'],
    ['the year 10000', { key: 'dueBy', comparator: '<', value: 253_402_300_800 }, 'value invalid_filter_value'],
    ['seconds before the first date', { key: 'dueBy', comparator: '>', value: -9e15 }, 'value invalid_filter_value'],
    ['half a second', { key: 'dueBy', comparator: '<', value: 0.5 }, 'value invalid_filter_value'],
    ['= without a value', { key: 'id', comparator: '=' }, 'value required'],
    ['< without a value', { key: 'id', comparator: '<', value: null }, 'value required'],
    ['like without a value', { key: 'subject', comparator: 'like' }, 'value required'],
    ['values where one value is required', { key: 'id', comparator: '=', values: [1] }, 'value required'],
    ['in without values', { key: 'id', comparator: 'in' }, 'values required'],
    ['an empty list of values', { key: 'id', comparator: 'not in', values: [] }, 'values required'],
    ['one value where values are required', { key: 'id', comparator: 'in', value: 1 }, 'values required'],
    ['no lower end', { key: 'id', comparator: 'between', to: 1 }, 'from required'],
    ['no upper end', { key: 'id', comparator: 'between', from: 1 }, 'to required'],
    ['like on a number', { key: 'id', comparator: 'like', value: '1%' }, 'comparator invalid_filter_value'],
    ['like on a status', { key: 'status', comparator: 'like', value: 'o%' }, 'comparator invalid_filter_value'],
    ['in on the full text', { key: 'q', comparator: 'in', values: ['a'] }, 'comparator invalid_filter_value'],
    ['!= on the full text', { key: 'q', comparator: '!=', value: 'a' }, 'comparator invalid_filter_value'],
    [
      '> on a truth value',
      { key: 'isCustomerActive', comparator: '>', value: true },
      'comparator invalid_filter_value',
    ],
    ['a value of 513 characters', { key: 'subject', comparator: '=', value: long }, 'value too_long'],
    ['a pattern of 513 characters', { key: 'subject', comparator: 'like', value: long }, 'value too_long'],
    ['a full text of 513 characters', { key: 'q', comparator: '=', value: long }, 'value too_long'],
    [
      'one value of 513 characters among others',
      { key: 'subject', comparator: 'in', values: ['a', long] },
      'values/1 too_long',
    ],
  ])('with %s is refused', async (_, filter, problem) => {
    expect(await problems({ filters: [filter] })).toEqual([400, 'invalid_filter', [`#/filters/0/${problem}`]]);
  });

  test('with a full text without words is refused', async () => {
    const wordless = { key: 'q', comparator: '=', value: '?! \u200b' };
    const problem = 'query_without_words';
    expect(await problems({ filters: [wordless] })).toEqual([400, problem, [`#/filters/0/value ${problem}`]]);
    const other = { key: 'id', comparator: '=', value: 'x' };
    expect((await problems({ filters: [wordless, other] }))[1]).toBe('invalid_filter');
  });

  test.each<[string, unknown, string]>([
    ['an unknown comparator', { key: 'id', comparator: 'matches', value: 1 }, '/comparator not_allowed'],
    ['an operator as comparator', { key: 'id', comparator: '$gt', value: 1 }, '/comparator not_allowed'],
    ['no key', { comparator: '=', value: 1 }, '/key required'],
    ['no comparator', { key: 'id', value: 1 }, '/comparator required'],
    ['an object as key', { key: { $gt: '' }, comparator: '=', value: 1 }, '/key wrong_type'],
    ['a list as comparator', { key: 'id', comparator: ['='], value: 1 }, '/comparator wrong_type'],
    ['an unknown part', { key: 'id', comparator: '=', value: 1, $where: '1' }, '/$where unknown_field'],
    ['a text as values', { key: 'id', comparator: 'in', values: '1' }, '/values wrong_type'],
    ['501 values', { key: 'id', comparator: 'in', values: Array(501).fill(1) }, '/values too_many_items'],
    ['half of a surrogate pair', { key: 'subject', comparator: '=', value: '\ud800' }, '/value invalid_text'],
    ['a text instead of a filter', 'status=open', ' wrong_type'],
  ])('with %s is refused', async (_, filter, problem) => {
    const [code, , found] = await problems({ filters: [filter] });
    expect([code, found[0]]).toEqual([400, `#/filters/0${problem}`]);
  });

  test('is accepted at the limits of 15 filters with 500 values of 512 characters', async () => {
    const values = Array.from({ length: 500 }, (_, index) => String(index).padStart(512, '0'));
    const filters = Array(15).fill({ key: 'subject', comparator: 'not in', values: values.slice(0, 30) });
    filters[0] = { key: 'subject', comparator: 'not in', values };
    expect((await tickets.search({ filters })).total).toBe(count);
    const emoji = { key: 'subject', comparator: '=', value: '😀'.repeat(512) };
    expect((await tickets.search({ filters: [emoji] })).total).toBe(0);
  });

  test('is refused if there are 16', async () => {
    const filters = Array(16).fill({ ...status, value: 'open' });
    expect(await problems({ filters })).toEqual([400, 'too_many_items', ['#/filters too_many_items']]);
  });
});

test('every invalid filter is reported, with each of its invalid parts', async () => {
  const filters = [
    { key: 'colour', comparator: '=', value: 1 },
    { ...status, value: 'open' },
    { ...status, value: 'gone' },
    { key: 'id', comparator: 'between', from: 'a', to: 'b' },
    { key: 'dueBy', comparator: 'in', values: ['2026-02-30', '2026-02-28', null, 'soon'] },
    { key: 'subject', comparator: 'in' },
  ];
  const [code, reason, found] = await problems({ filters });
  expect([code, reason]).toEqual([400, 'invalid_filter']);
  expect(found).toEqual([
    '#/filters/0/key unknown_filter_key',
    '#/filters/2/value invalid_filter_value',
    '#/filters/3/from invalid_filter_value',
    '#/filters/3/to invalid_filter_value',
    '#/filters/4/values/0 invalid_filter_value',
    '#/filters/4/values/3 invalid_filter_value',
    '#/filters/5/values required',
  ]);
});

describe('a value of a request never becomes an operator of the database', () => {
  const operator = fc.constantFrom('$gt', '$ne', '$where', '$regex', '$expr', '$or', '$in', '__proto__', 'constructor');
  const hostileObject = fc.oneof(
    fc.dictionary(operator, fc.oneof(fc.constantFrom<unknown>('', 1, null, '.*', true), fc.constant([1]))),
    fc.array(fc.dictionary(operator, fc.constant('')), { minLength: 1, maxLength: 2 }),
  );

  // guarantee: I1
  // asvs: 1.2.4
  test('an object or list instead of a value is refused, for every key and comparator', async () => {
    const keys = [...naiveKeys.keys()];
    const anyPair = fc
      .constantFrom(...keys)
      .chain((key) => fc.constantFrom(...comparatorsOf(key)).map((one) => [key, one]));
    await fc.assert(
      fc.asyncProperty(anyPair, hostileObject, async ([key = '', comparator = ''], value) => {
        const filter: RawFilter = { key, comparator, value, values: [value], from: value, to: value };
        const { status, json } = await tickets.refused({ filters: [filter] });
        expect(status).toBe(400);
        expect(['invalid_filter', 'prototype_key']).toContain(json.code);
      }),
      { numRuns: runs(40, 400) },
    );
  });

  test('a text that looks like an operator is just a text', async () => {
    for (const value of ['$ne', '{"$gt":""}', '{$where:"1"}', "'; return true; //", '$$ROOT', '.*', '/./']) {
      const expected = randomTickets(count, 1).filter(({ subject }) => subject === value).length;
      expect((await tickets.search({ filters: [{ key: 'subject', comparator: '=', value }] })).total).toBe(expected);
      expect((await tickets.search({ filters: [{ key: 'subject', comparator: 'like', value }] })).total).toBe(expected);
    }
  });

  test('a key that looks like an operator is refused, as filter and as order', async () => {
    for (const key of ['$where', '$or', '$expr', 't.$where', 't.subject.$gt', 'outbox', 't.words', '_id', 't._id']) {
      expect((await problems({ filters: [{ key, comparator: '=', value: '1' }] }))[0]).toBe(400);
      expect((await problems({ orderByField: key }))[0]).toBe(400);
    }
  });

  test('a body that is not a search is refused', async () => {
    for (const body of [
      '[]',
      '1',
      '"a"',
      '{"filters":{}}',
      '{"filters":[[]]}',
      '{"$where":"1"}',
      '{"limit":{"$gt":0}}',
    ]) {
      expect((await problems(body))[0]).toBe(400);
    }
  });
});

test('the response to any JSON is 200 or 400', async () => {
  const part = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>('t.id', 'q', '=', 'in', null, 1, 'like'),
  );
  const filter = fc.record(
    {
      key: fc.oneof(fc.constantFrom<unknown>(...naiveKeys.keys()), part),
      comparator: part,
      value: part,
      values: fc.array(part),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.record({ filters: fc.array(filter) }), part), async (body) => {
      const { status } = await tickets.refused(JSON.stringify(body));
      expect([200, 400]).toContain(status);
    }),
    { numRuns: runs(60, 1_000) },
  );
});

describe('hostile text', () => {
  const patterns = [
    `%${'a'.repeat(510)}b`,
    `%${'a'.repeat(509)}b%`,
    `${'%a'.repeat(255)}b%`,
    `${'%a'.repeat(255)}b`,
    `${'a%'.repeat(255)}b`,
    `%${'ab'.repeat(200)}c%${'ba'.repeat(50)}`,
    '%(a+)+$%',
    '%(a|a)*b%',
    `${'%'.repeat(511)}b`,
    `%${'Ä'.repeat(510)}ö`,
  ];

  /** Searches with each pattern among tickets whose texts have this length. */
  async function searchTexts(length: number): Promise<void> {
    await tickets.database.collection('tickets').deleteMany({});
    const hostile = ['a', 'ab', 'ba', 'Ä', '\u0301'].map((unit) => unit.repeat(length / unit.length));
    const generated = randomTickets(hostile.length, 1).map((ticket, at) => ({
      ...ticket,
      subject: hostile[at] ?? '',
      summary: hostile[at] ?? '',
    }));
    await insertTickets(tickets, generated);
    for (const value of patterns) {
      for (const key of ['t.subject', 't.summary']) {
        await withinTime(1_000, () => tickets.search({ filters: [{ key, comparator: 'like', value }] }));
      }
    }
    const value = `${'a'.repeat(250)} ${'\u0301'.repeat(200)}b`;
    await withinTime(1_000, () => tickets.search({ filters: [{ key: 'q', comparator: '=', value }] }));
  }

  // guarantee: I3
  // asvs: 1.3.12
  test('is searched in the longest texts within a second', () => searchTexts(50_000));

  test('that almost matches a pattern in many ways is rejected quickly', async () => {
    await tickets.database.collection('tickets').deleteMany({});
    const generated = randomTickets(60, 1).map((ticket) => ({ ...ticket, subject: `ac${'a'.repeat(900)}` }));
    await insertTickets(tickets, generated);
    for (const value of ['%a%a%a%a%ac%', '%a%a%a%a%ac', 'a%a%a%a%ac%a']) {
      const filters = [{ key: 't.subject', comparator: 'like', value }];
      expect((await withinTime(750, () => tickets.search({ filters }))).total).toBe(0);
    }
  });
});
