import type { JsonObject } from '@bufbuild/protobuf';
import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { expect, test } from 'vitest';
import { dataViolations } from './data.ts';

const schema = {
  type: 'object',
  properties: {
    day: { type: 'string', format: 'date', maxLength: 10 },
    'a/b': { type: 'object', properties: { 'c d': { enum: [1, 2] } }, required: ['c d'] },
    format: { type: 'integer' },
  },
  additionalProperties: false,
};

test.each([
  [{ day: '2026-01-01', 'a/b': { 'c d': 2 }, format: 3 }, []],
  [{ day: 'any text' }, []],
  [{ day: 'eleven char' }, ['#/data/day']],
  [{ day: 1, 'a/b': { 'c d': 3 } }, ['#/data/day', '#/data/a~1b/c d']],
  [{ format: 'x' }, ['#/data/format']],
  [{ other: 1 }, ['#/data/other']],
])('%j has violations at %j', (data, pointers) => {
  const found = dataViolations(schema, data as never, '#/data');
  expect([...new Set(found.map(({ pointer }) => pointer))]).toEqual(pointers);
  expect(found.every(({ code }) => code === 'invalid_data')).toBe(true);
});

// guarantee: I24
test('work beyond the limit is refused, not done', async () => {
  const enumeration = {
    properties: { list: { items: { enum: Array.from({ length: 10_000 }, (_, index) => index) } } },
  };
  const list = (length: number) => ({ list: Array.from({ length }, () => -1) });
  const violations = (schema: JsonObject, data: JsonObject) =>
    withinCpuTime(1000, () => dataViolations(schema, data, '#/data'));
  expect(await violations(enumeration, list(5000))).toMatchObject([{ pointer: '#/data', code: 'invalid_data' }]);
  const unique = { properties: { list: { uniqueItems: true } } };
  const different = (length: number) => ({ list: Array.from({ length }, (_, index) => index) });
  expect(await violations(unique, different(1400))).toEqual([]);
  expect(await violations(unique, different(1415))).toHaveLength(1);
  expect(await violations(unique, different(100_000))).toHaveLength(1);
});

test.each<[string, JsonObject, JsonObject]>([
  ['items', { properties: { list: { items: { type: 'string' } } } }, { list: filled(60_000, 1) }],
  ['contained', { properties: { list: { contains: { type: 'string' } } } }, { list: filled(90_000, 1) }],
  [
    'properties',
    { additionalProperties: { allOf: filled(80, { type: 'string' }) } },
    Object.fromEntries(filled(2000, 1).map((one, index) => [`name${index}`, one])),
  ],
  ['multiples', { properties: { list: { items: { multipleOf: 1e-300 } } } }, { list: filled(15_000, 1e300) }],
])('many violations are found without more work than few: %s', async (_, hostile, data) => {
  const violations = await withinCpuTime(1000, () => dataViolations(hostile, data, '#/data'));
  expect(violations.length).toBeLessThanOrEqual(100);
});

test('a violation does not repeat the schema', () => {
  const [violation] = dataViolations({ properties: { a: { const: 'x'.repeat(60_000) } } }, { a: 1 }, '#/data');
  expect(violation?.detail.length).toBeLessThanOrEqual(500);
});

test('a name with half a character is refused', () => {
  expect(dataViolations({ additionalProperties: { type: 'string' } }, { '\ud800': 'a' }, '#/data')).toMatchObject([
    { pointer: '#/data', code: 'invalid_data' },
  ]);
});

function filled<Item>(length: number, item: Item): Item[] {
  return Array.from({ length }, () => item);
}
