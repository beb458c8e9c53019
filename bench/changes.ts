import { setTimeout } from 'node:timers/promises';
import type mongoose from 'mongoose';
import { toId } from './dataset.ts';
import { call } from './load.ts';
import type { BenchSystem } from './system.ts';

/** The rate of changes. */
export const changesPerSecond = 50;

/** The statuses that tickets are changed to in turn. */
export const statuses = ['open', 'closed'] as const;

/** How changes are made. */
export interface SteadyPlan {
  seconds: number;
  /** How many tickets there are. */
  tickets: number;
  /** The number of the first change, so that a later load changes other tickets. */
  from?: number;
  /** Changes per second. */
  rate?: number;
  /** The body of the change with a number; by default it changes the status. */
  toBody?(index: number): object;
}

/** The result of changes. */
export interface Changed {
  /** The latency of the changes that succeeded, in ms since they were due. */
  latencies: number[];
  failed: number;
}

/**
 * Changes tickets one after the other at a fixed rate, however long the responses take, and calls back with the new
 * version at each success.
 */
export async function changeSteadily(
  system: BenchSystem,
  { seconds, tickets, from = 0, rate = changesPerSecond, toBody = otherStatus }: SteadyPlan,
  onChanged: (id: number, version: number) => void,
): Promise<Changed> {
  const changed: Changed = { latencies: [], failed: 0 };
  const responses: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < rate * seconds; index++) {
    const dueAt = startedAt + (index * 1000) / rate;
    await setTimeout(Math.max(0, dueAt - performance.now()));
    const id = toId((from + index) % tickets);
    const response = change(system, id, toBody(from + index)).then(
      (version) => {
        changed.latencies.push(performance.now() - dueAt);
        onChanged(id, version);
      },
      () => {
        changed.failed += 1;
      },
    );
    responses.push(response);
  }
  await Promise.all(responses);
  return changed;
}

/** Measures when changes appear in the rows of reporting. */
export interface RowWatch {
  /** Starts waiting for the row of a ticket to reach a version. */
  expect(id: number, version: number): void;
  /** Resolves when all rows have reached their versions, with the ms that each took. Errors: after 5 minutes. */
  finished(): Promise<number[]>;
}

/** Starts watching the rows in the database of reporting. */
export function watchRows(reporting: mongoose.mongo.Db): RowWatch {
  const rows = reporting.collection<{ _id: number; version: number }>('rows1');
  const waiting = new Map<number, { version: number; at: number }>();
  const times: number[] = [];
  let isFinishing = false;
  let deadline = Number.POSITIVE_INFINITY;
  const watching = (async () => {
    while (!isFinishing || waiting.size > 0) {
      if (performance.now() > deadline)
        throw new Error(`${waiting.size} changes did not appear in their rows in time.`);
      const ids = [...waiting.keys()].slice(0, 1000);
      const found = await rows.find({ _id: { $in: ids } }, { projection: { version: 1 } }).toArray();
      for (const { _id, version } of found) {
        const expected = waiting.get(_id);
        if (!expected || version < expected.version) continue;
        times.push(performance.now() - expected.at);
        waiting.delete(_id);
      }
      await setTimeout(10);
    }
    return times;
  })();
  return {
    expect: (id, version) => void waiting.set(id, { version, at: performance.now() }),
    finished() {
      isFinishing = true;
      deadline = performance.now() + 300_000;
      return watching;
    },
  };
}

function otherStatus(index: number): object {
  return { status: statuses[index % 2] };
}

async function change(system: BenchSystem, id: number, body: object): Promise<number> {
  const { ticket } = await call<{ ticket: { version: number } }>(system, {
    method: 'PATCH',
    path: `/ticket/${id}`,
    body,
  });
  return ticket.version;
}
