import type { MeasuredCosts, RequestCost } from './costs.ts';
import { printNumber } from './table.ts';

/** The costs of the system, and of the state before, if that was measured in the same run. */
export interface ComparedCosts {
  now: MeasuredCosts;
  before?: MeasuredCosts | undefined;
}

/** Writes the costs of requests as the rows of a table, the header first and the idle system last. */
export function costRows({ now, before }: ComparedCosts): string[][] {
  const header = [
    'Request',
    'Requests/s',
    'until done/s',
    'CPU ms',
    'gateway',
    'tickets',
    'intents',
    'others',
    'engine',
    'Store operations',
    'Bytes of request; response',
    'CPU / before',
    'Store operations before',
  ];
  const rows = now.requests.map((cost) => {
    const earlier = before?.requests.find(({ name }) => name === cost.name);
    return [
      cost.name,
      printNumber(cost.sentPerSecond),
      printNumber(cost.donePerSecond),
      ...cpuCells(cost.cpuMs),
      sum(cost.commands).toFixed(1),
      `${cost.requestBytes}; ${Math.round(cost.responseBytes)}`,
      earlier ? printNumber(sum(cost.cpuMs) / sum(earlier.cpuMs)) : '',
      earlier ? sum(earlier.commands).toFixed(1) : '',
    ];
  });
  const { idle } = now;
  const idleRow = [
    'none, per second',
    '',
    '',
    ...cpuCells(idle.cpuMs),
    sum(idle.commands).toFixed(1),
    '',
    before ? printNumber(sum(idle.cpuMs) / sum(before.idle.cpuMs)) : '',
    before ? sum(before.idle.commands).toFixed(1) : '',
  ];
  return [header, ...rows, idleRow];
}

function cpuCells(cpuMs: RequestCost['cpuMs']): string[] {
  const { gateway = 0, tickets = 0, intents = 0, engine = 0, ...others } = cpuMs;
  return [sum(cpuMs), gateway, tickets, intents, sum(others), engine].map(printNumber);
}

function sum(values: Readonly<Record<string, number>>): number {
  return Object.values(values).reduce((all, one) => all + one, 0);
}
