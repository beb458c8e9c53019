import { expect, test } from 'vitest';
import { type BenchRun, benchmarks, withoutOutdated } from './bench-run.ts';
import type { LoadCurve } from './load-curve.ts';
import type { OperationCosts } from './operation-costs.ts';

const toCosts = (operation: string) => ({ operation }) as OperationCosts;
const figure = (group: string, name: string, value: number) => ({ group, name, value });

function run(measuredAt: string, fields: Partial<BenchRun>): BenchRun {
  const machine = { cores: 2, memoryBytes: 8e9, node: '24.0.0' };
  return {
    measuredAt,
    machine,
    tickets: 1000,
    only: [],
    operations: [],
    curves: [],
    growth: [],
    figures: [],
    ...fields,
  };
}

test('what a later run has measured again is dropped from the earlier one, and a run without anything left too', () => {
  const curve = (operation: string) => ({ operation, points: [] }) as unknown as LoadCurve;
  const latency = { p50: 1, p95: 1, p99: 1 };
  const latencies = { search: latency, getLatestSkills: latency, firstPage: latency, offsetPage: latency };
  const [first, second, third] = [
    run('first', { operations: [toCosts('get')], figures: [figure('events', 'sent', 1)] }),
    run('second', {
      operations: [toCosts('get'), toCosts('search')],
      curves: [curve('get')],
      growth: [1, 2].map((count) => ({ count, latencies })),
      figures: [figure('events', 'sent', 2)],
    }),
    run('third', { operations: [toCosts('search')], growth: [{ count: 2, latencies }] }),
  ];
  const kept = withoutOutdated([first, second, third]);
  expect(kept.map(({ measuredAt }) => measuredAt)).toEqual(['second', 'third']);
  expect(kept[0]).toMatchObject({
    operations: [{ operation: 'get' }],
    curves: [{ operation: 'get' }],
    growth: [{ count: 1 }],
  });
  expect(kept[0]?.figures).toEqual([figure('events', 'sent', 2)]);
  expect(kept[1]).toEqual(third);
});

test('costs that a later run has measured replace those of an earlier one', () => {
  const costs = { now: { requests: [], idle: { cpuMs: {}, commands: {} }, memory: {} } };
  const runs = [run('old', { costs }), run('new', { costs }), run('newest', { operations: [toCosts('get')] })];
  expect(withoutOutdated(runs).map(({ measuredAt, costs: kept }) => [measuredAt, kept !== undefined])).toEqual([
    ['new', true],
    ['newest', false],
  ]);
});

test('what no benchmark measures any more is dropped', () => {
  const old = run('old', {
    operations: [{ operation: 'removed' } as unknown as OperationCosts],
    curves: [{ operation: 'removed' } as unknown as LoadCurve],
    figures: [figure('removed', 'a', 1)],
  });
  expect(withoutOutdated([old])).toEqual([]);
});

test('an old name of a figure goes when its whole group was measured with as many tickets, not before', () => {
  const old = run('old', { figures: [figure('settings', 'old name', 1)] });
  const all = benchmarks.settings ?? [];
  const newer = (fields: Partial<BenchRun>) =>
    run('newer', { figures: [figure('settings', 'new name', 1)], ...fields });
  const namesAfter = (fields: Partial<BenchRun>) =>
    withoutOutdated([old, newer(fields)]).flatMap(({ figures }) => figures.map(({ name }) => name));
  expect(all.length).toBeGreaterThan(1);
  expect(namesAfter({ only: all })).toEqual(['new name']);
  expect(namesAfter({ only: all.slice(1) })).toEqual(['old name', 'new name']);
  expect(namesAfter({ only: all, tickets: 2000 })).toEqual(['old name', 'new name']);
});
