import { expect, test } from 'vitest';
import { costRows } from './cost-table.ts';
import type { MeasuredCosts } from './costs.ts';

function measured(cpuMs: Record<string, number>, find: number): MeasuredCosts {
  const cost = { cpuMs, commands: { find, update: 1 } };
  const rates = { sentPerSecond: 200, donePerSecond: 50, requestBytes: 19, responseBytes: 3781.4 };
  return { requests: [{ name: 'PATCH', ...rates, ...cost }], idle: cost, memory: {} };
}

const now = measured({ gateway: 0.5, tickets: 2, intents: 0.25, reporting: 0.5, settings: 0.25, engine: 1.5 }, 1.5);

test('the row of a request has its rates, its costs by process and its sizes, and the last row the idle system', () => {
  const [header, ...rows] = costRows({ now });
  expect(rows.map((row) => row.length)).toEqual([header?.length, header?.length]);
  expect(rows).toEqual([
    ['PATCH', '200', '50.0', '5.00', '0.500', '2.00', '0.250', '0.750', '1.50', '2.5', '19; 3781', '', ''],
    ['none, per second', '', '', '5.00', '0.500', '2.00', '0.250', '0.750', '1.50', '2.5', '', '', ''],
  ]);
});

test('the state before gives the share of its CPU time that is left, and its store operations', () => {
  const [, row, idle] = costRows({ now, before: measured({ gateway: 4, engine: 6 }, 4) });
  expect([row?.slice(-2), idle?.slice(-2)]).toEqual([
    ['0.500', '5.0'],
    ['0.500', '5.0'],
  ]);
});
