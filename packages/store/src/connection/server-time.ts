import type { Connection, mongo } from 'mongoose';

/** A reading of a server's clock, and when it was read by this process's monotonic clock. Units: ms. */
interface Reading {
  serverTime: number;
  readAt: number;
}

const readings = new WeakMap<mongo.MongoClient, Reading>();
/** Within this time the clocks of two hosts drift apart by far less than a lease lasts. */
const readEveryMs = 30_000;

/**
 * Reads the clock of the database server of a connection now and every 30 seconds, until the returned function is
 * called. Leases use only this clock, so that hosts whose clocks differ agree on them.
 */
export async function followServerTime(connection: Connection): Promise<() => void> {
  const client = connection.getClient();
  const read = async () => {
    const time = await readServerTime(client);
    readings.set(client, { serverTime: time.getTime(), readAt: performance.now() });
  };
  await read();
  // If the server is unreachable, the last reading stays in use.
  const timer = setInterval(() => void read().catch(() => undefined), readEveryMs).unref();
  return () => clearInterval(timer);
}

/**
 * Returns the time of the database server, in Unix milliseconds. It is behind the server by the latency of the response, and
 * never ahead, so that no lease is claimed too early. Before the first reading it is the time of this host.
 */
export function serverTime(connection: Connection): number {
  const reading = readings.get(connection.getClient());
  return reading ? reading.serverTime + (performance.now() - reading.readAt) : Date.now();
}

async function readServerTime(client: mongo.MongoClient): Promise<Date> {
  const { localTime } = await client.db('admin').command({ hello: 1 });
  if (localTime instanceof Date) return localTime;
  // The embedded engine does not include its time in that response.
  const pipeline = [{ $documents: [{}] }, { $project: { now: '$$NOW' } }];
  const [found] = await client.db('admin').aggregate<{ now: Date }>(pipeline).toArray();
  if (!found) throw new Error('The database server returned no time.');
  return found.now;
}
