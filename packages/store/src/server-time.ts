import type { Connection, mongo } from 'mongoose';

/** What is known of a server's clock: its time at a moment of this process's monotonic clock. Units: ms. */
interface Reading {
  serverTime: number;
  readAt: number;
}

const readings = new WeakMap<Connection, Reading>();
/** Clocks of two hosts drift apart by far less than a lease lasts within this time. */
const readEveryMs = 30_000;

/**
 * Follows the clock of the database server behind a connection, from now on until the function that it returns is called.
 * Leases are compared by this clock alone, so that hosts whose clocks differ agree on them.
 */
export async function followServerTime(connection: Connection): Promise<() => void> {
  const read = async () => {
    const time = await readServerTime(connection.getClient());
    readings.set(connection, { serverTime: time.getTime(), readAt: performance.now() });
  };
  await read();
  // Without a server the last reading holds.
  const timer = setInterval(() => void read().catch(() => undefined), readEveryMs).unref();
  return () => clearInterval(timer);
}

/**
 * The time of the database server, in Unix ms: behind it by as long as its answer took to arrive, never ahead of it, so
 * that no lease is taken too early. Before it was read it is the time of this host.
 */
export function serverTime(connection: Connection): number {
  const reading = readings.get(connection);
  return reading ? reading.serverTime + (performance.now() - reading.readAt) : Date.now();
}

async function readServerTime(client: mongo.MongoClient): Promise<Date> {
  const { localTime } = await client.db('admin').command({ hello: 1 });
  if (localTime instanceof Date) return localTime;
  // The embedded engine does not say it there.
  const pipeline = [{ $documents: [{}] }, { $project: { now: '$$NOW' } }];
  const [found] = await client.db('admin').aggregate<{ now: Date }>(pipeline).toArray();
  if (!found) throw new Error('The database server does not tell its time.');
  return found.now;
}
