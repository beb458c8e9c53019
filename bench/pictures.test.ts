import { expect, test } from 'vitest';
import { drawChart } from './draw-chart.ts';
import type { OperationCosts } from './operation-costs.ts';
import {
  figureTable,
  growthChart,
  latencyCharts,
  type Numbered,
  operationTable,
  rateChart,
  runTable,
} from './pictures.ts';

const latency = { p50: 1, p95: 2, p99: 30 };
const trips = { total: 1.2, commands: {} };
const cost = (maxRate: number) => ({
  ...{ maxRate, fixedRate: 1, latency, cpuMs: { gateway: 0.5, engine: 0.25 } },
  roundTrips: { one: trips, sixteen: trips },
});
const operations: Numbered<OperationCosts>[] = [
  { operation: 'get', goal: { atLeast: 0.5 }, system: cost(1500), bare: cost(5000), oneRoundTrip: cost(6000), run: 2 },
];

test('charts show each value that was measured', () => {
  expect(drawChart(rateChart(operations))).toMatch(/^<svg[\s\S]*>1500<[\s\S]*>5000<[\s\S]*>6000</);
  const [curve] = Object.entries(latencyCharts([{ operation: 'get', points: [{ rate: 700, ...latency }] }]));
  expect(curve?.[0]).toBe('latency-get');
  expect(curve && drawChart(curve[1])).toContain('Latency of get over load');
  const latencies = { search: latency, getLatestSkills: latency, firstPage: latency, offsetPage: latency };
  expect(drawChart(growthChart([{ count: 1000, latencies }]))).toContain('getLatestSkills');
});

test('tables state whether the goals are reached', () => {
  expect(operationTable(operations).split('\n')[2]).toBe(
    '| get | 1500 | 0.300 | ≥ 0.5 | missed | 0.250 | 0.750 | 1.2 | 30.0 | 2 |',
  );
  const figures = [{ name: 'a | b', value: 1.5, details: { p99: 20 }, goal: { atMost: 2 }, run: 1 }];
  expect(figureTable(figures).split('\n')[2]).toBe('| a / b | 1.50; 20.0 | ≤ 2 | ok | 1 |');
});

test('a table says when and on what each run was measured', () => {
  const machine = { cores: 2, memoryBytes: 8 * 2 ** 30, node: '24.21.0' };
  const results = { operations: [], curves: [], growth: [], figures: [] };
  const run = { measuredAt: '2026-11-22T22:40:55.000Z', machine, tickets: 1_000_000, only: [], ...results };
  expect(runTable([run]).split('\n')[2]).toBe('| 1 | 2026-11-22 22:40 UTC | 2 | 8 GiB | 24.21.0 | 1,000,000 |');
});
