import { fill } from './dataset.ts';
import { type Measured, measure } from './load.ts';
import { type LoadedSet, operations, type ReadName, readCursors, readNames } from './operations.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The latencies of the reads on one set of tickets. */
export type ReadLatencies = Record<ReadName, Measured['latency']>;

/** How reads are measured. */
export interface ReadPlan {
  seconds: number;
  progress(text: string): void;
}

/** Creates a set of tickets for the system and for the bare routes. */
export async function loadSet(system: BenchSystem, count: number, { progress }: ReadPlan): Promise<LoadedSet> {
  progress(`${count} tickets are being created`);
  return { ...(await fill(system.mongodbUri, count)), cursors: await readCursors(system) };
}

/** Measures the reads on a set of tickets. */
export async function measureReads(system: BenchSystem, set: LoadedSet, plan: ReadPlan): Promise<ReadLatencies> {
  const measureRead = async (name: ReadName) => {
    plan.progress(`${name}, ${set.count} tickets`);
    return (await measure(system, operations[name](set), { seconds: plan.seconds, connections: 4 })).latency;
  };
  return {
    search: await measureRead('search'),
    getLatestSkills: await measureRead('getLatestSkills'),
    firstPage: await measureRead('firstPage'),
    offsetPage: await measureRead('offsetPage'),
  };
}

/** Reads of one set of tickets. */
export interface MeasuredSet {
  count: number;
  latencies: ReadLatencies;
}

/**
 * Compares the reads on a large and a small set. A latency that grows with the set indicates a read without an index.
 */
export function growthFigures(small: MeasuredSet, large: MeasuredSet): Figure[] {
  const growth = (name: ReadName) => large.latencies[name].p95 / small.latencies[name].p95;
  const sizes = `${large.count} / ${small.count} tickets`;
  return [
    { name: `search page by cursor, p95, ${sizes}`, value: growth('search'), goal: { atMost: 1.3 } },
    { name: `getLatest in scope skills, p95, ${sizes}`, value: growth('getLatestSkills'), goal: { atMost: 1.5 } },
    { name: `first page with its exact total, p95, ${sizes}`, value: growth('firstPage') },
    { name: `page at an offset of half the matches, p95, ${sizes}`, value: growth('offsetPage') },
    ...[small, large].flatMap(({ count, latencies }) =>
      readNames.map((name) => ({ name: `${name} ${count} tickets: p95, ms`, value: latencies[name].p95 })),
    ),
  ];
}
