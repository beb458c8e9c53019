import { setTimeout } from 'node:timers/promises';
import { startEmbeddedMongo } from '@ticketing/embedded-mongo/embedded-mongo.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import mongoose from 'mongoose';
import { openServers } from '../tools/faults/servers.ts';
import { type Changed, changeSteadily, changesPerSecond, watchRows } from './changes.ts';
import { waitForRows } from './events.ts';
import { quantile } from './load.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** A bus that can be made unavailable. */
export interface StoppableBus {
  name: string;
  /** The environment variables that make the services use it. */
  environment: Record<string, string>;
  /** Kills it; resolves when it has been started again, after the given time. */
  interrupt(downMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts the embedded log in a separate server, so that it can be unavailable while the stores are not. */
export async function embeddedBus(dataDir: string): Promise<StoppableBus> {
  const options = { dataDir, port: await freePort() };
  let server = await startEmbeddedMongo(options);
  return {
    name: 'the embedded log',
    environment: {
      TICKETING_TICKETS_EVENT_LOG_MONGODB_URI: server.uri,
      TICKETING_REPORTING_EVENT_LOG_MONGODB_URI: server.uri,
    },
    async interrupt(downMs) {
      process.kill(server.pid, 'SIGKILL');
      await Promise.all([server.exited, setTimeout(downMs)]);
      server = await startEmbeddedMongo(options);
    },
    close: () => server.stop(),
  };
}

/** Opens Kafka. As in `npm run faults`, a command kills and starts the broker: `COMMAND kill|start broker`. */
export function kafkaBus(command: string): StoppableBus {
  const servers = openServers(command);
  return {
    name: 'Kafka',
    environment: {},
    async interrupt(downMs) {
      await servers.restart('broker', 'kill', downMs);
      await servers.restored();
    },
    close: async () => undefined,
  };
}

/** How long changes are made before the outage. This is done twice, the first time as a warm-up. */
const baselineSeconds = 15;
const outageSeconds = 60;

/** Measures the effect of an outage of the bus on changes, and how long the rows take to catch up afterwards. */
export async function measureBusOutage(system: BenchSystem, bus: StoppableBus, tickets: number): Promise<Figure[]> {
  const connection = await mongoose.createConnection(system.mongodbUri).asPromise();
  try {
    await waitForRows(system, connection.getClient().db('ticketing_tickets'));
    const rows = watchRows(connection.getClient().db('ticketing_reporting'));
    const run = (seconds: number, from: number) => changeSteadily(system, { seconds, tickets, from }, rows.expect);
    await run(baselineSeconds, 0);
    const before = await run(baselineSeconds, baselineSeconds * changesPerSecond);
    const [during] = await Promise.all([
      run(outageSeconds, 2 * baselineSeconds * changesPerSecond),
      bus.interrupt(outageSeconds * 1000),
    ]);
    const restartedAt = performance.now();
    await rows.finished();
    const catchUpSeconds = (performance.now() - restartedAt) / 1000;
    return toFigures(bus.name, before, during, catchUpSeconds);
  } finally {
    await connection.close();
  }
}

function toFigures(name: string, before: Changed, during: Changed, catchUpSeconds: number): Figure[] {
  const title = `bus unavailable for ${outageSeconds} s at ${changesPerSecond} changes/s, ${name}`;
  const details = { duringMs: quantile(during.latencies, 0.5), beforeMs: quantile(before.latencies, 0.5) };
  return [
    { name: `${title}: changes that failed`, value: before.failed + during.failed, goal: { atMost: 0 } },
    {
      name: `${title}: patch, p50, during / before`,
      value: details.duringMs / details.beforeMs,
      details,
      goal: { atMost: 1.3 },
    },
    { name: `${title}: all rows are up to date after, s`, value: catchUpSeconds, goal: { atMost: 30 } },
  ];
}
