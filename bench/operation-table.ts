import type { Cost, OperationCosts } from './operation-costs.ts';
import type { CommandCounts } from './round-trips.ts';
import { alignColumns, printGoal, printNumber, printVerdict } from './table.ts';

const header = [
  'operation',
  'requests/s',
  '/ bare',
  'goal',
  '',
  '/ one trip',
  'CPU ms',
  'gateway',
  'service',
  'engine',
  'trips/1',
  'trips/16',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'loop ms',
  'commands',
];
const textColumns = new Set([0, 3, 4, 16]);
const rightAligned = header.flatMap((_, column) => (textColumns.has(column) ? [] : [column]));
const noRatios = ['', '', '', ''];

const legend = `/ bare, / one trip: the system's requests/s as a share of those of the bare route that does the same work, and of the
bare route with one round trip to the store. Search and create have one row for both.
CPU ms: CPU time per request, of all processes together, then of each. service: those other than the gateway, or the bare routes.
trips: round trips to the store per request, with 1 and with 16 connections; commands: the same by command, with 16.
p50, p95, p99: the latency at the same fixed rate for all rows of an operation; loop ms: the p99 of event-loop delay.`;

/**
 * Writes the costs of operations as a table for a terminal: the row of the system, then the rows of the bare routes.
 */
export function printOperations(costs: readonly OperationCosts[]): string {
  return `${alignColumns([header, ...costs.flatMap(toRows)], rightAligned)}\n\n${legend}`;
}

function toRows({ operation, goal, system, bare, oneRoundTrip }: OperationCosts): string[][] {
  const toBare = system.maxRate / bare.maxRate;
  const toOneRoundTrip = system.maxRate / (oneRoundTrip ?? bare).maxRate;
  const ratios = [printNumber(toBare), printGoal(goal), printVerdict(toBare, goal), printNumber(toOneRoundTrip)];
  const systemRow = toRow(operation, system, ratios);
  const oneRoundTripRow = toRow('  bare, one round trip', oneRoundTrip ?? bare, noRatios);
  return oneRoundTrip ? [systemRow, toRow('  bare', bare, noRatios), oneRoundTripRow] : [systemRow, oneRoundTripRow];
}

function toRow(
  name: string,
  { maxRate, cpuMs, roundTrips, latency, loopDelayMs }: Cost,
  ratios: readonly string[],
): string[] {
  const { one, sixteen } = roundTrips;
  return [
    name,
    printNumber(maxRate),
    ...ratios,
    printNumber(Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0)),
    printIfMeasured(cpuMs.gateway),
    printNumber(ofServices(cpuMs)),
    printIfMeasured(cpuMs.engine),
    one.total.toFixed(2),
    sixteen.total.toFixed(2),
    ...[latency.p50, latency.p95, latency.p99].map(printNumber),
    printIfMeasured(loopDelayMs),
    printCommands(sixteen.commands),
  ];
}

/** The CPU time of all services but the gateway; without other load, only the service with the operation uses any. */
function ofServices({ gateway, engine, ...services }: Cost['cpuMs']): number {
  return Object.values(services).reduce((sum, ms) => sum + ms, 0);
}

function printIfMeasured(value: number | undefined): string {
  return value === undefined ? '' : printNumber(value);
}

/** Writes commands with their numbers for each request. Leaves out numbers that round to 0. */
export function printCommands(commands: CommandCounts): string {
  return Object.entries(commands)
    .toSorted(([, left], [, right]) => right - left)
    .filter(([, count]) => count >= 0.005)
    .map(([name, count]) => `${name} ${count.toFixed(2)}`)
    .join(', ');
}
