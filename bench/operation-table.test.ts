import { expect, test } from 'vitest';
import type { Cost } from './operation-costs.ts';
import { printOperations } from './operation-table.ts';

const latency = { p50: 9.5, p95: 12.25, p99: 120.4 };

function toCost(maxRate: number, cpuMs: Record<string, number>, insertsAtSixteen: number): Cost {
  const roundTrips = (insert: number) => ({ total: 1 + insert, commands: { insert, find: 1, update: 0.001 } });
  return {
    ...{ maxRate, cpuMs, latency, fixedRate: 480 },
    roundTrips: { one: roundTrips(1), sixteen: roundTrips(insertsAtSixteen) },
  };
}

const system = { ...toCost(800, { gateway: 0.4, tickets: 1.2, engine: 0.4 }, 0.25), loopDelayMs: 12 };
const bare = toCost(1600, { bare: 0.6, engine: 0.2 }, 1);
const goal = { atLeast: 0.6 };

test('the row of an operation has its ratios, and the rows of the bare routes follow it', () => {
  const oneRoundTrip = toCost(3200, { bare: 0.3, engine: 0.1 }, 0);
  const table = printOperations([{ operation: 'get', goal, system, bare, oneRoundTrip }]);
  expect(toCells(table)).toEqual([
    'operation|requests/s|/ bare|goal|/ one trip|CPU ms|gateway|service|engine|trips/1|trips/16|p50 ms|p95 ms|p99 ms|loop ms|commands',
    'get|800|0.500|≥ 0.6|missed|0.250|2.00|0.400|1.20|0.400|2.00|1.25|9.50|12.3|120|12.0|find 1.00, insert 0.25',
    '|bare|1600|0.800|0.600|0.200|2.00|2.00|9.50|12.3|120|insert 1.00, find 1.00',
    '|bare, one round trip|3200|0.400|0.300|0.100|2.00|1.00|9.50|12.3|120|find 1.00',
  ]);
});

test('a bare route that itself makes one round trip has one row, and both ratios refer to it', () => {
  const [, search, limit, ...others] = toCells(printOperations([{ operation: 'search', goal, system, bare }]));
  expect(search).toMatch(/^search\|800\|0\.500\|≥ 0\.6\|missed\|0\.500\|/);
  expect(limit).toMatch(/^\|bare, one round trip\|1600\|/);
  expect(others).toEqual([]);
});

/** The rows above the legend, with their filled cells. */
function toCells(table: string): string[] {
  const [rows = ''] = table.split('\n\n');
  return rows.split('\n').map((row) => row.replaceAll(/ {2,}/g, '|'));
}
