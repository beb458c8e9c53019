import mongoose from 'mongoose';
import { closedAfterMs, closedIdStore } from '../services/tickets/src/ticket/store/closed-id-store.ts';
import { type TicketCollection, ticketCollection } from '../services/tickets/src/ticket/store/schema.ts';
import { fill, systemDatabase } from './dataset.ts';
import { type BenchPlan, type Measured, measure } from './load.ts';
import { type LoadedSet, operations, type ReadName, readCursors, readNames } from './operations.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The name of this measurement on the command line. */
export const growthNames = ['growth'] as const;

const smallestCount = 1000;

/** The latencies of the reads on one set of tickets. */
export type ReadLatencies = Record<ReadName, Measured['latency']>;

/** The sizes of the sets on which reads are measured: 1,000 and its tenfolds, up to the largest one. */
function setSizes(largest: number): number[] {
  const sizes: number[] = [];
  for (let size = smallestCount; size < largest; size *= 10) sizes.push(size);
  return [...sizes, largest];
}

/** Measures the reads on sets of tickets, each ten times the one before. The system keeps the largest one. */
export async function measureGrowth(system: BenchSystem, plan: BenchPlan): Promise<MeasuredSet[]> {
  const sets: MeasuredSet[] = [];
  for (const count of setSizes(plan.tickets)) {
    const set = await loadSet(system, count, plan);
    sets.push({ count, latencies: await measureReads(system, set, plan) });
  }
  return sets;
}

/** Creates a set of tickets for the system, whose ids are closed. */
export async function loadSet(system: BenchSystem, count: number, { progress }: BenchPlan): Promise<LoadedSet> {
  progress(`${count} tickets are being created`);
  await fill(system.mongodbUri, count, [systemDatabase]);
  await closeIds(system.mongodbUri);
  return { count, cursors: await readCursors(system) };
}

/** Closes the ids of the tickets, as a scheduler does ten minutes after they were created. */
export async function closeIds(mongodbUri: string): Promise<void> {
  const connection = await mongoose.createConnection(mongodbUri, { dbName: systemDatabase }).asPromise();
  const collection = connection.collection(ticketCollection) as unknown as TicketCollection;
  const closedIds = closedIdStore(connection, collection);
  await closedIds.close(new Date(0));
  await closedIds.close(new Date(closedAfterMs));
  await connection.close();
}

/** Measures the reads on a set of tickets. */
async function measureReads(system: BenchSystem, set: LoadedSet, plan: BenchPlan): Promise<ReadLatencies> {
  const measureRead = async (name: ReadName) => {
    plan.progress(`${name}, ${set.count} tickets`);
    return (await measure(system, operations[name](set), { seconds: plan.seconds, connections: 4 })).latency;
  };
  const latencies: Partial<ReadLatencies> = {};
  for (const name of readNames) latencies[name] = await measureRead(name);
  return latencies as ReadLatencies;
}

/** Reads of one set of tickets. */
export interface MeasuredSet {
  count: number;
  latencies: ReadLatencies;
}

/**
 * Compares the reads on the largest and the smallest set. A latency that grows with the set indicates a read without an
 * index.
 */
export function growthFigures(sets: readonly MeasuredSet[]): Figure[] {
  const [small] = sets;
  const large = sets.at(-1);
  if (!small || !large) return [];
  const growth = (name: ReadName) => large.latencies[name].p95 / small.latencies[name].p95;
  const sizes = `${large.count} / ${small.count} tickets`;
  return [
    { name: `search page by cursor, p95, ${sizes}`, value: growth('search'), goal: { atMost: 1.3 } },
    { name: `getLatest in scope skills, p95, ${sizes}`, value: growth('getLatestSkills'), goal: { atMost: 1.5 } },
    { name: `first page with its exact total, p95, ${sizes}`, value: growth('firstPage') },
    { name: `page at an offset of half the matches, p95, ${sizes}`, value: growth('offsetPage') },
    ...sets.flatMap(({ count, latencies }) =>
      readNames.map((name) => ({ name: `${name} ${count} tickets: p95, ms`, value: latencies[name].p95 })),
    ),
  ];
}
