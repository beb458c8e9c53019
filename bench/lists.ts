import { type BenchPlan, type Measured, measure, type NextRequest, pickAny, quantile, send } from './load.ts';
import { printCommands } from './operation-table.ts';
import { readCursors } from './operations.ts';
import type { RoundTripCounter } from './round-trips.ts';
import type { BenchSystem } from './system.ts';
import type { Figure, Goal } from './table.ts';

/** The name of this measurement on the command line. */
export const listNames = ['lists'] as const;

interface MeasuredList {
  name: string;
  body: object;
  /** For the rate of its first page as a share of the rate of its later pages, at up to 100,000 tickets and at more. */
  goals?: { small: Goal; large: Goal };
}

const withStatus = (value: string) => ({ filters: [{ key: 't.status', comparator: '=', value }] });
/** A tenth of the tickets are pending, and more than half of them are closed. */
const lists: readonly MeasuredList[] = [
  { name: 'any ticket', body: {}, goals: { small: { atLeast: 0.8 }, large: { atLeast: 0.7 } } },
  { name: 'status pending', body: withStatus('pending'), goals: { small: { atLeast: 0.5 }, large: { atLeast: 0.4 } } },
  { name: 'status closed', body: withStatus('closed') },
];
const connections = 8;
const median = (values: readonly number[]) => quantile(values, 0.5);
/** Their median is used, because other work of the machine disturbs single runs. */
const rounds = 3;
/** Without the warm-up, the first list would be slower than the others. */
const warmUpSeconds = 8;

/**
 * Measures the first page of lists, which has a total, and their later pages, which are read after a cursor, on the tickets
 * that the system has.
 */
export async function measureLists(
  system: BenchSystem,
  counter: RoundTripCounter,
  { tickets, seconds, progress }: BenchPlan,
): Promise<Figure[]> {
  await send(system, toPage([{}]), { seconds: warmUpSeconds, connections });
  const figures: Figure[] = [];
  for (const list of lists) {
    const cursors = await readCursors(system, list.body);
    const later = cursors.map((cursor) => ({ ...list.body, cursor }));
    const count = async (next: NextRequest) => {
      const { total, commands } = await counter.count(system, next, connections);
      progress(`${list.name}, commands per request: ${printCommands(commands)}`);
      return total;
    };
    const first: Measured[] = [];
    const after: Measured[] = [];
    for (let round = 1; round <= rounds; round++) {
      progress(`${list.name}, ${tickets} tickets, round ${round}`);
      first.push(await measure(system, toPage([list.body]), { seconds, connections }));
      after.push(await measure(system, toPage(later), { seconds, connections }));
    }
    const goal = tickets > 100_000 ? list.goals?.large : list.goals?.small;
    const name = `${list.name} of ${tickets}`;
    figures.push(...(await toFigures({ name, body: list.body, goal }, { first, after }, count, later)));
  }
  return figures;
}

function toPage(bodies: readonly object[]): NextRequest {
  return () => ({ method: 'POST', path: '/ticket/search', body: { ...pickAny(bodies), limit: 100 } });
}

async function toFigures(
  { name, body, goal }: Pick<MeasuredList, 'name' | 'body'> & { goal: Goal | undefined },
  { first, after }: { first: readonly Measured[]; after: readonly Measured[] },
  count: (next: NextRequest) => Promise<number>,
  later: readonly object[],
): Promise<Figure[]> {
  const measureRate = (measured: readonly Measured[]) => median(measured.map(({ maxRate }) => maxRate));
  const ratio = {
    name: `${name}: first page with total / page after a cursor, rate`,
    value: measureRate(first) / measureRate(after),
  };
  return [
    goal ? { ...ratio, goal } : ratio,
    cpuFigure(`${name}, first page with total`, first, await count(toPage([body]))),
    cpuFigure(`${name}, page after a cursor`, after, await count(toPage(later))),
  ];
}

/** The CPU time of a request in ms, of all processes and of those that have most of it. */
function cpuFigure(name: string, measured: readonly Measured[], trips: number): Figure {
  const of = (process: string) => median(measured.map(({ cpuMs }) => cpuMs[process] ?? Number.NaN));
  const all = median(measured.map(({ cpuMs }) => Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0)));
  const details = { gateway: of('gateway'), tickets: of('tickets'), engine: of('engine'), trips };
  return { name: `${name}: CPU ms; gateway, tickets, engine; round trips`, value: all, details };
}
