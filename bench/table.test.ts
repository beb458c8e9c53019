import { expect, test } from 'vitest';
import { alignColumns, printTable, reaches } from './table.ts';

test('a table states for each figure with a goal whether the goal is reached', () => {
  const table = printTable([
    { name: 'get', value: 0.61, goal: { atLeast: 0.5 } },
    { name: 'memory', value: 230.4, goal: { atMost: 200 } },
    { name: 'rate', value: 1234.5, details: { p50: 1.234, p99: 20 } },
  ]);
  expect(table.split('\n')).toEqual([
    'get     0.610             ≥ 0.5  ok',
    'memory  230               ≤ 200  missed',
    'rate    1235  1.23  20.0',
  ]);
});

test('a value that could not be measured reaches no goal', () => {
  expect(reaches(Number.NaN, { atLeast: 0.5 })).toBe(false);
  expect(reaches(Number.NaN, { atMost: 0.5 })).toBe(false);
});

test('columns are aligned at the given edge', () => {
  const rows = [
    ['name', 'value', ''],
    ['a', '1', 'ok'],
  ];
  expect(alignColumns(rows, [1]).split('\n')).toEqual(['name  value', 'a         1  ok']);
});
