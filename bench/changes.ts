import { setTimeout } from 'node:timers/promises';
import type mongoose from 'mongoose';
import { idOf } from './dataset.ts';
import type { BenchSystem } from './system.ts';

/** How many changes are made in a second. */
export const changesPerSecond = 50;

/** What the status of tickets is changed to. */
export const statuses = ['open', 'closed'] as const;

/** How changes are made. */
export interface SteadyPlan {
  seconds: number;
  /** How many tickets there are. */
  tickets: number;
  /** The first change, so that a later load changes other tickets. */
  from?: number;
}

/** What became of changes. Units: ms. */
export interface Changed {
  latencies: number[];
  failed: number;
}

/** Changes tickets one after the other at a fixed rate, whatever the answers take, and tells of each that was answered. */
export async function changeSteadily(
  system: BenchSystem,
  { seconds, tickets, from = 0 }: SteadyPlan,
  onAnswered: (id: number, version: number) => void,
): Promise<Changed> {
  const changed: Changed = { latencies: [], failed: 0 };
  const answers: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < changesPerSecond * seconds; index++) {
    const dueAt = startedAt + (index * 1000) / changesPerSecond;
    await setTimeout(Math.max(0, dueAt - performance.now()));
    const id = idOf((from + index) % tickets);
    const answer = change(system, id, statuses[index % 2] ?? 'open').then(
      (version) => {
        changed.latencies.push(performance.now() - dueAt);
        onAnswered(id, version);
      },
      () => {
        changed.failed += 1;
      },
    );
    answers.push(answer);
  }
  await Promise.all(answers);
  return changed;
}

/** Watches the rows of reporting for changes. */
export interface RowWatch {
  /** Begins to wait for a version of a ticket. */
  expect(id: number, version: number): void;
  /** Resolves when all that was waited for is there, with the time that each took, in ms. Errors: not in 5 minutes. */
  finished(): Promise<number[]>;
}

/** Starts watching the rows. */
export function watchRows(reporting: mongoose.mongo.Db): RowWatch {
  const rows = reporting.collection<{ _id: number; version: number }>('rows1');
  const waiting = new Map<number, { version: number; at: number }>();
  const times: number[] = [];
  let isOver = false;
  let giveUpAt = Number.POSITIVE_INFINITY;
  const watching = (async () => {
    while (!isOver || waiting.size > 0) {
      if (performance.now() > giveUpAt) throw new Error(`${waiting.size} changes never reached their rows.`);
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
      isOver = true;
      giveUpAt = performance.now() + 300_000;
      return watching;
    },
  };
}

/** The value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function change({ url, headers }: BenchSystem, id: number, status: string): Promise<number> {
  const response = await fetch(`${url}/ticket/${id}`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ status }),
  });
  const { ticket } = (await response.json()) as { ticket: { version: number } };
  return ticket.version;
}
