import type { BenchRun } from './bench-run.ts';
import { type ComparedCosts, costRows } from './cost-table.ts';
import type { Chart } from './draw-chart.ts';
import type { LoadCurve } from './load-curve.ts';
import type { OperationCosts } from './operation-costs.ts';
import { readNames } from './operations.ts';
import type { MeasuredSet } from './read-growth.ts';
import { type Figure, printGoal, printNumber, printVerdict } from './table.ts';

/** A value, and the number of the run that has measured it. */
export type Numbered<Item> = Item & { run: number };

/** The rates of the system and of the bare routes. */
export function rateChart(operations: readonly OperationCosts[]): Chart {
  const bars = {
    'the system': operations.map(({ system }) => system.maxRate),
    'bare route, same work': operations.map(({ bare }) => bare.maxRate),
    'bare route, one round trip': operations.map(({ oneRoundTrip, bare }) => (oneRoundTrip ?? bare).maxRate),
  };
  return {
    title: 'Requests per second',
    option: {
      xAxis: { type: 'category', data: operations.map(({ operation }) => operation) },
      yAxis: { type: 'value', name: 'requests/s' },
      series: Object.entries(bars).map(([name, rates]) => ({
        name,
        type: 'bar',
        data: rates.map((rate) => Math.round(rate)),
        label: { show: true, position: 'top', fontSize: 10 },
      })),
    },
  };
}

/** The latency of each operation at fixed rates, a chart for each. */
export function latencyCharts(curves: readonly LoadCurve[]): Record<string, Chart> {
  return Object.fromEntries(
    curves.map(({ operation, points }) => {
      const series = (['p50', 'p95', 'p99'] as const).map((name) => ({
        name,
        type: 'line' as const,
        data: points.map((point) => [point.rate, Number(point[name].toPrecision(3))]),
      }));
      const axes = {
        xAxis: { type: 'value' as const, name: 'requests/s', nameLocation: 'middle' as const, nameGap: 30 },
        yAxis: { type: 'log' as const, name: 'ms' },
      };
      return [`latency-${operation}`, { title: `Latency of ${operation} over load`, option: { ...axes, series } }];
    }),
  );
}

/** How the latency of reads grows with the number of tickets. */
export function growthChart(growth: readonly MeasuredSet[]): Chart {
  return {
    title: 'p95 of reads over the number of tickets',
    option: {
      xAxis: { type: 'log', name: 'tickets', nameLocation: 'middle', nameGap: 30 },
      yAxis: { type: 'value', name: 'ms' },
      series: readNames.map((name) => ({
        name,
        type: 'line',
        data: growth.map(({ count, latencies }) => [count, Number(latencies[name].p95.toPrecision(3))]),
      })),
    },
  };
}

/** A Markdown table of when and on what the runs were measured. They are numbered from 1. */
export function runTable(runs: readonly BenchRun[]): string {
  const rows = runs.map(({ measuredAt, machine: { cores, memoryBytes, node }, tickets }, index) => [
    String(index + 1),
    `${measuredAt.slice(0, 16).replace('T', ' ')} UTC`,
    String(cores),
    `${Math.round(memoryBytes / 2 ** 30)} GiB`,
    node,
    tickets.toLocaleString('en-US'),
  ]);
  return markdownTable([['Run', 'Measured', 'Cores', 'Memory', 'Node', 'Tickets, at most'], ...rows]);
}

/** A Markdown table of what requests cost in the whole system. */
export function costTable(costs: ComparedCosts, run: number): string {
  return `What a request costs in the whole system until everything that follows is done (run ${run}):\n\n${markdownTable(costRows(costs))}`;
}

/** A Markdown table of the operations. */
export function operationTable(operations: readonly Numbered<OperationCosts>[]): string {
  const rows = operations.map(({ operation, goal, system, bare, oneRoundTrip, run }) => {
    const toBare = system.maxRate / bare.maxRate;
    const cpuMs = Object.values(system.cpuMs).reduce((sum, ms) => sum + ms, 0);
    return [
      operation,
      printNumber(system.maxRate),
      printNumber(toBare),
      printGoal(goal),
      printVerdict(toBare, goal),
      printNumber(system.maxRate / (oneRoundTrip ?? bare).maxRate),
      printNumber(cpuMs),
      system.roundTrips.sixteen.total.toFixed(1),
      printNumber(system.latency.p99),
      String(run),
    ];
  });
  const header = [
    'Operation',
    'Requests/s',
    '/ bare',
    'Goal',
    '',
    '/ one trip',
    'CPU ms',
    'Round trips',
    'p99 ms',
    'Run',
  ];
  return markdownTable([header, ...rows]);
}

/** A Markdown table of the figures. */
export function figureTable(figures: readonly Numbered<Figure>[]): string {
  const rows = figures.map(({ name, value, goal, details = {}, run }) => [
    name,
    [value, ...Object.values(details)].map(printNumber).join('; '),
    goal ? printGoal(goal) : '',
    goal ? printVerdict(value, goal) : '',
    String(run),
  ]);
  return markdownTable([['Figure', 'Value', 'Goal', '', 'Run'], ...rows]);
}

function markdownTable([header = [], ...rows]: readonly (readonly string[])[]): string {
  const renderLine = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '/')).join(' | ')} |`;
  return `${[renderLine(header), renderLine(header.map(() => '---')), ...rows.map(renderLine)].join('\n')}\n`;
}
