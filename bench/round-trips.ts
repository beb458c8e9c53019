import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { type Address, type NextRequest, send } from './load.ts';

/** How often the store has run each command; each is one round trip: a message to the engine and its reply. */
export type CommandCounts = Readonly<Record<string, number>>;

/** The round trips to the store per request. */
export interface RoundTrips {
  total: number;
  /** The round trips by command. */
  commands: CommandCounts;
}

/** Counts round trips with the counters of the database engine, which cost nothing under load. */
export interface RoundTripCounter {
  /** Sends a number of requests and counts. Errors: a response that is not a success. */
  count(address: Address, nextRequest: NextRequest, connections: number): Promise<RoundTrips>;
  close(): Promise<void>;
}

/** The commands that do not belong to requests: drivers send the first two, and the counter sends the third. */
const uncounted = new Set(['hello', 'ping', 'serverStatus']);
const requests = 480;
const idleSeconds = 5;
const settleMs = 500;

/**
 * Starts counting the commands of an engine. The commands of an idle system in the same time are subtracted, so nothing
 * else may use the engine while it counts and while this starts.
 */
export async function openRoundTripCounter(mongodbUri: string): Promise<RoundTripCounter> {
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  const idle = await observe(connection, () => setTimeout(idleSeconds * 1000));
  return {
    async count(address, nextRequest, connections) {
      // A timed load ends with requests in flight, which are still being served.
      await setTimeout(settleMs);
      const busy = await observe(connection, () => send(address, nextRequest, { requests, connections }));
      return countRoundTrips(busy, idle, requests);
    },
    close: () => connection.close(),
  };
}

/** Does something, and returns with its result the commands that the engine has run meanwhile. */
export async function observe<Result>(
  connection: mongoose.Connection,
  action: () => Promise<Result>,
): Promise<Observed & { result: Result }> {
  const before = await readCommands(connection);
  const startedAt = performance.now();
  const result = await action();
  const seconds = (performance.now() - startedAt) / 1000;
  return { result, counts: subtract(await readCommands(connection), before), seconds };
}

/** Reads how often the engine has run each command since it was started. */
async function readCommands(connection: mongoose.Connection): Promise<CommandCounts> {
  const { metrics } = await connection.getClient().db('admin').command({ serverStatus: 1 });
  return readCounts(metrics.commands);
}

/** The commands that were run in an interval. */
export interface Observed {
  counts: CommandCounts;
  seconds: number;
}

/** The round trips per request, without those that an idle system makes in the same time. */
export function countRoundTrips(busy: Observed, idle: Observed, requestCount: number): RoundTrips {
  const commands = countPerRequest(busy, idle, requestCount);
  return { total: Object.values(commands).reduce((sum, count) => sum + count, 0), commands };
}

/** The counts per request, without those of an idle system in the same time. */
export function countPerRequest(busy: Observed, idle: Observed, requestCount: number): Record<string, number> {
  return mapValues(busy.counts, (count, name) => {
    const unrelated = ((idle.counts[name] ?? 0) / idle.seconds) * busy.seconds;
    return (count - unrelated) / requestCount;
  });
}

/** Maps the values of a record. */
export function mapValues(
  record: Readonly<Record<string, number>>,
  map: (value: number, name: string) => number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}

/** Reads the part `metrics.commands` of `serverStatus`, which contains single commands and groups of commands. */
export function readCounts(status: Readonly<Record<string, unknown>>): CommandCounts {
  return Object.fromEntries(
    Object.entries(status).flatMap(([name, entry]) => {
      const total = typeof entry === 'object' && entry && 'total' in entry ? Number(entry.total) : Number.NaN;
      return uncounted.has(name) || !(total > 0) ? [] : [[name, total]];
    }),
  );
}

/** The growth of counts between two readings. */
export function subtract(after: CommandCounts, before: CommandCounts): Record<string, number> {
  return mapValues(after, (count, name) => count - (before[name] ?? 0));
}
