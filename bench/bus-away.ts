import { setTimeout } from 'node:timers/promises';
import { startEmbeddedMongo } from '@ticketing/embedded-mongo/embedded-mongo.ts';
import mongoose from 'mongoose';
import { openServers } from '../test/faults/servers.ts';
import { freePort } from '../tools/dev/ports.ts';
import { type Changed, changeSteadily, changesPerSecond, quantile, watchRows } from './changes.ts';
import { followed } from './events.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** A bus that can be taken away. */
export interface FragileBus {
  name: string;
  /** The variables by which the services find it. */
  environment: Record<string, string>;
  /** Ends it at once; resolves when it is started again, after the given time in ms. */
  takeAway(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** The embedded log in a server of its own, so that it can be away while the stores are not. */
export async function embeddedBus(dataDir: string): Promise<FragileBus> {
  const options = { dataDir, port: await freePort() };
  let server = await startEmbeddedMongo(options);
  return {
    name: 'the embedded log',
    environment: {
      TICKETING_TICKETS_EVENT_LOG_MONGODB_URI: server.uri,
      TICKETING_REPORTING_EVENT_LOG_MONGODB_URI: server.uri,
    },
    async takeAway(ms) {
      process.kill(server.pid, 'SIGKILL');
      await Promise.all([server.exited, setTimeout(ms)]);
      server = await startEmbeddedMongo(options);
    },
    close: () => server.stop(),
  };
}

/** Kafka, whose broker a command handles as in `npm run faults`: `COMMAND kill|start broker`. */
export function kafkaBus(command: string): FragileBus {
  const servers = openServers(command);
  return {
    name: 'Kafka',
    environment: {},
    async takeAway(ms) {
      await servers.restart('broker', 'kill', ms);
      await servers.settled();
    },
    close: async () => undefined,
  };
}

/** How long changes are made before the bus is taken away, and how long it is away. */
const calmSeconds = 15;
const awaySeconds = 60;

/** Measures what changes notice of a bus that is away, and how long the rows take to follow when it is back. */
export async function measureBusAway(system: BenchSystem, bus: FragileBus, tickets: number): Promise<Figure[]> {
  const connection = await mongoose.createConnection(system.mongodbUri).asPromise();
  try {
    await followed(system, connection.getClient().db('ticketing_tickets'));
    const rows = watchRows(connection.getClient().db('ticketing_reporting'));
    const run = (seconds: number, from: number) => changeSteadily(system, { seconds, tickets, from }, rows.expect);
    await run(calmSeconds, 0);
    const before = await run(calmSeconds, calmSeconds * changesPerSecond);
    const [during] = await Promise.all([
      run(awaySeconds, 2 * calmSeconds * changesPerSecond),
      bus.takeAway(awaySeconds * 1000),
    ]);
    const backAt = performance.now();
    await rows.finished();
    const drainedSeconds = (performance.now() - backAt) / 1000;
    return figuresOf(bus.name, before, during, drainedSeconds);
  } finally {
    await connection.close();
  }
}

function figuresOf(name: string, before: Changed, during: Changed, drainedSeconds: number): Figure[] {
  const title = `bus away for ${awaySeconds} s at ${changesPerSecond} changes/s, ${name}`;
  const details = { awayMs: quantile(during.latencies, 0.5), beforeMs: quantile(before.latencies, 0.5) };
  return [
    { name: `${title}: changes that failed`, value: before.failed + during.failed, goal: { atMost: 0 } },
    {
      name: `${title}: patch, p50, away / before`,
      value: details.awayMs / details.beforeMs,
      details,
      goal: { atMost: 1.3 },
    },
    { name: `${title}: all rows have followed after, s`, value: drainedSeconds, goal: { atMost: 30 } },
  ];
}
