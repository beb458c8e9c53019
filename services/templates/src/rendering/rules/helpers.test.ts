import { describe, expect, it, test } from 'vitest';
import { blocks, helpers } from './helpers.ts';
import { renderHtml } from './render-template.ts';

const renderTemplate = (template: string, variables: object) => renderHtml(template, variables);

/** Names values in order: `a`, `b` and so on. */
const named = (values: readonly unknown[]) =>
  Object.fromEntries(values.map((value, at) => ['abcdef'.charAt(at), value]));

/** How a helper shows its values inline. */
function inline(name: string, values: readonly unknown[]): string {
  const variables = named(values);
  return renderTemplate(`{{${name} ${Object.keys(variables).join(' ')}}}`, variables);
}

const unset = undefined;

/** The values and the result for each helper. */
const truthTables: Record<string, readonly (readonly [values: readonly unknown[], result: string | boolean])[]> = {
  contains: [
    [['Strom und Gas', 'Gas'], true],
    [['Gas', 'Strom und Gas'], true],
    [['Gas', 'gas'], false],
    [['Gas', 'Gas'], true],
    [['Strom', 'Gas'], false],
    [['', 'Gas'], false],
    [['', ''], false],
    [[unset, 'Gas'], false],
    [[null, null], false],
    [[1234, '23'], true],
    [['12', [7, 12]], true],
    [[[7, 12], 12], true],
    [[[7, 12], '1'], false],
    [[[], ''], false],
    [[[''], ''], false],
    [
      [
        [1, 2],
        ['2', '3'],
      ],
      true,
    ],
    [[[1, 2], [3]], false],
    [[{ a: 1 }, 'object'], false],
  ],
  gt: [
    [['9', '10'], true],
    [['10', '9'], false],
    [[9, 10], true],
    [['a', 'a'], false],
    [['b', 'a'], true],
    [['a', unset], true],
    [[unset, 'a'], false],
  ],
  lt: [
    [['9', '10'], false],
    [['10', '9'], true],
    [[10, 9], true],
    [['a', 'a'], false],
    [['Z', 'a'], true],
    [[unset, 'a'], true],
  ],
  eq: [
    [['a', 'a'], true],
    [['a', 'A'], false],
    [[12, '12'], true],
    [[true, 'true'], true],
    [[null, ''], true],
    [[unset, 0], false],
    [[[1, 2], '1,2'], true],
  ],
  ne: [
    [['a', 'a'], false],
    [['a', 'A'], true],
    [[12, '12'], false],
    [[null, 'x'], true],
  ],
  and: [
    [[true, true], true],
    [[true, false], false],
    [[false, true], false],
    [['x', 1, [0]], true],
    [['x', 0], false],
    [['x', ''], false],
    [['x', []], false],
    [['x', null], false],
    [['x', 'false'], true],
  ],
  or: [
    [[false, false], false],
    [[true, false], true],
    [[false, true], true],
    [[0, '', null, []], false],
    [[0, '', null, [1]], true],
  ],
  not: [
    [[true], false],
    [[false], true],
    [[''], true],
    [[0], true],
    [[[]], true],
    [[unset], true],
    [['0'], false],
  ],
  formatDateDE: [
    [['2026-03-09'], '09.03.2026'],
    [['2026-03-09 23:59:59'], '09.03.2026'],
    [['2026-03-09T23:30:00Z'], '09.03.2026'],
    [['2026-03-09T23:30:00.123-02:00'], '10.03.2026'],
    [[1_700_000_000], '14.11.2023'],
    [['1700000000'], '14.11.2023'],
    [[0], '01.01.1970'],
    [['2028-02-29'], '29.02.2028'],
    [['2026-02-29'], '2026-02-29'],
    [['2026-13-01'], '2026-13-01'],
    [['2026-01-01 25:00:00'], '2026-01-01 25:00:00'],
    [['0001-01-01'], '01.01.0001'],
    [['9999-12-31'], '31.12.9999'],
    [[253_402_300_799], '31.12.9999'],
    [[253_402_300_800], '253402300800'],
    [['soon'], 'soon'],
    [[-1], '-1'],
    [[null], ''],
    [[unset], ''],
    [[{}], ''],
  ],
  addDays: [
    [['2026-01-31', 1], '2026-02-01'],
    [['2028-02-28', '1'], '2028-02-29'],
    [['2026-01-01', -1], '2025-12-31'],
    [['2026-01-01 08:30:00', 14], '2026-01-15 08:30:00'],
    [[0, 1], '1970-01-02 00:00:00'],
    [['2026-01-01', 0], '2026-01-01'],
    [['2026-01-01', 1.5], '2026-01-01'],
    [['2026-01-01', 'x'], '2026-01-01'],
    [['2026-01-01', unset], '2026-01-01'],
    [['9999-12-31', 1], '9999-12-31'],
    [['2026-01-01', 1e21], '2026-01-01'],
    [['soon', 1], 'soon'],
    [[null, 1], ''],
  ],
  extractFirstName: [
    [['Ada Lovelace'], 'Ada'],
    [['Lovelace, Ada'], 'Ada'],
    [['  Ada  '], 'Ada'],
    [['Frau Dr. Ada Lovelace'], 'Ada'],
    [['Dr. Lovelace, Ada'], 'Ada'],
    [['Anna-Lena Ö. Müller'], 'Anna-Lena'],
    [['Herr'], ''],
    [['ada@example.org'], ''],
    [[''], ''],
    [[null], ''],
    [['x'.repeat(320)], 'x'.repeat(320)],
    [['x'.repeat(321)], ''],
  ],
  last4digits: [
    [['DE89 3704 0044 0532 0130 00'], '3000'],
    [['123'], '123'],
    [['1234'], '1234'],
    [[123456], '3456'],
    [['1a2b3c4d5e'], '2345'],
    [['none'], ''],
    [[null], ''],
  ],
  upper: [
    [['straße'], 'STRASSE'],
    [['Äb1'], 'ÄB1'],
    [[null], ''],
  ],
  lower: [
    [['ÄRGER'], 'ärger'],
    [[true], 'true'],
    [[null], ''],
  ],
  default: [
    [['a', 'b'], 'a'],
    [['', 'b'], 'b'],
    [[null, 'b'], 'b'],
    [[unset, 'b'], 'b'],
    [[0, 'b'], '0'],
    [[false, 'b'], 'false'],
    [[[], 'b'], 'b'],
    [[null, null], ''],
  ],
  formatNumberDE: [
    [[1234567.5], '1.234.567,5'],
    [['1234.5', 2], '1.234,50'],
    [['1234.567', '1'], '1.234,6'],
    [[0], '0'],
    [[-1234], '-1.234'],
    [[0.1234567], '0,123457'],
    [[1, 6], '1,000000'],
    [[1, 7], '1'],
    [[1234, 'x'], '1234'],
    [['12,5'], '12,5'],
    [['1e400'], '1e400'],
    [[999_999_999_999_999], '999.999.999.999.999'],
    [[1e15], '1000000000000000'],
    [['many'], 'many'],
    [[null], ''],
  ],
};

const compareTable: readonly (readonly [unknown, string, unknown, boolean])[] = [
  ['9', '>', '10', true],
  ['9', '>=', '10', true],
  ['9', '<', '10', false],
  ['9', '<=', '10', false],
  [9, '>', 10, true],
  ['a', '==', 'a', true],
  ['a', '!=', 'a', false],
  ['a', '>=', 'a', true],
  ['a', '<=', 'a', true],
  ['a', '>', 'a', false],
  ['a', '<', 'a', false],
  [7, '==', '7', true],
  [null, '==', '', true],
  [null, '<', 'a', true],
];

describe('a helper', () => {
  const rows = Object.entries(truthTables).flatMap(([name, table]) =>
    table.map(([values, result]) => [name, values, result] as const),
  );

  // spec: 11.9, 11.10, 11.11
  it.each(rows)('%s of %j is %j', (name, values, result) => {
    expect(inline(name, values)).toBe(String(result));
  });

  it.each(rows.filter(([, , result]) => typeof result === 'boolean'))(
    '%s of %j as a block: %j',
    (name, values, result) => {
      const variables = named(values);
      const call = `${name} ${Object.keys(variables).join(' ')}`;
      const taken = result ? 'yes' : 'no';
      expect(renderTemplate(`{{#${call}}}yes{{else}}no{{/${name}}}`, variables)).toBe(taken);
      expect(renderTemplate(`{{#${call}}}yes{{/${name}}}`, variables)).toBe(result ? 'yes' : '');
      expect(renderTemplate(`{{^${call}}}no{{/${name}}}`, variables)).toBe(result ? '' : 'no');
      expect(renderTemplate(`{{#if (${call})}}yes{{else}}no{{/if}}`, variables)).toBe(taken);
    },
  );

  // spec: 11.11
  it.each(compareTable)('compare %j %s %j is %j', (a, operator, b, result) => {
    expect(renderTemplate(`{{compare a "${operator}" b}}`, { a, b })).toBe(String(result));
    expect(renderTemplate(`{{#compare a "${operator}" b}}yes{{/compare}}`, { a, b })).toBe(result ? 'yes' : '');
  });

  it('has a truth table, whichever it is', () => {
    expect([...Object.keys(truthTables), 'compare'].sort()).toEqual(helpers.map(({ name }) => name).sort());
  });

  it.each(helpers.flatMap(({ name, examples }) => examples.map(([template, result]) => [name, template, result])))(
    '%s does what its example %s says',
    (_name, template, result) => {
      expect(renderTemplate(template, {})).toBe(result);
    },
  );

  it('reads and keeps the values around its block', () => {
    const variables = { customer: { name: 'Ada', tags: ['a', 'b'] } };
    const template =
      '{{#with customer}}{{#each tags}}{{#eq this "b"}}{{../name}}{{this}}{{@index}}{{/eq}}{{/each}}{{/with}}';
    expect(renderTemplate(template, variables)).toBe('Adab1');
  });

  it('escapes what it inserts', () => {
    expect(renderTemplate('{{upper a}}{{default a "x"}}', { a: '<b>&' })).toBe('&lt;B&gt;&amp;&lt;b&gt;&amp;');
  });
});

test('the blocks of Handlebars work as always', () => {
  const variables = { list: ['a', 'b'], none: [], name: 'x' };
  expect(renderTemplate('{{#if list}}1{{/if}}{{#if none}}2{{/if}}{{#unless none}}3{{/unless}}', variables)).toBe('13');
  expect(renderTemplate('{{#each list as |item at|}}{{at}}{{item}}{{/each}}', variables)).toBe('0a1b');
  expect(renderTemplate('{{#each none}}x{{else}}none{{/each}}', variables)).toBe('none');
  expect(renderTemplate('{{#with name}}{{this}}{{/with}}', variables)).toBe('x');
  expect(blocks).toEqual(['if', 'unless', 'each', 'with']);
});
