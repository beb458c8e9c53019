import { setTimeout } from 'node:timers/promises';
import mongoose, { type Connection, type ConnectOptions as ConnectionOptions } from 'mongoose';
import { followServerTime } from './server-time.ts';
import { isSetUp } from './store-format.ts';

/** A database of this service. */
export interface Database {
  /** The same for all who open the same database by the same URI. */
  id: string;
  connection: Connection;
  /** Resolves when the database has been reached for the first time, and is set up. */
  opened: Promise<void>;
  /** Rejects if the database does not respond, or is not set up. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** How a database is opened. */
export interface OpenOptions {
  /** Whether it is opened to be set up; else it counts as opened only when it is. */
  isSetUpHere?: boolean;
}

const retryMs = 500;
const heartbeatMs = 500;
/** A heartbeat that is older than this does not show that the server responds. */
const freshMs = 3 * heartbeatMs;

/**
 * Opens a database; what is written is acknowledged by a majority and in its journal, unless the URI says otherwise (a
 * single server has no majority to ask). Does not wait for the server: it keeps trying, reports once why it has to, and
 * operations fail within 2 seconds while there is none.
 */
export function openDatabase(
  uri: string,
  name: string,
  onUnreachable: (error: unknown) => void,
  { isSetUpHere = false }: OpenOptions = {},
): Database {
  const connection = mongoose.createConnection();
  const closing = new AbortController();
  const state = { isOpened: false, respondedAt: Number.NEGATIVE_INFINITY };
  const connected = connect(connection, { uri, name, onUnreachable, isSetUpHere, state }, closing.signal);
  return {
    id: `${uri} ${name}`,
    connection,
    opened: connected.then(() => undefined),
    async check() {
      if (!state.isOpened) throw new Error('the database has not been reached, or is not set up');
      if (performance.now() - state.respondedAt < freshMs) return;
      await connection.getClient().db(name).command({ ping: 1 });
    },
    async close() {
      closing.abort();
      const stopFollowing = await connected;
      stopFollowing?.();
      await connection.close();
    },
  };
}

interface ConnectOptions {
  uri: string;
  name: string;
  onUnreachable(error: unknown): void;
  isSetUpHere: boolean;
  state: { isOpened: boolean; respondedAt: number };
}

/**
 * Connects; mongoose gives up when the first attempt fails, so it is repeated. From then on the driver reconnects by itself.
 * Returns how to stop following the server's clock.
 */
async function connect(
  connection: Connection,
  { uri, name, onUnreachable, isSetUpHere, state }: ConnectOptions,
  closing: AbortSignal,
): Promise<(() => void) | undefined> {
  let isReported = false;
  while (!closing.aborted) {
    try {
      await connection.openUri(uri, { dbName: name, ...connectionOptions(uri) });
      noteHeartbeats(connection, state);
      const stopFollowing = await followServerTime(connection);
      while (!isSetUpHere && !closing.aborted && !(await isSetUp(connection))) await pause(closing);
      state.isOpened = true;
      return stopFollowing;
    } catch (error) {
      if (!isReported) onUnreachable(error);
      isReported = true;
      await pause(closing);
    }
  }
  return undefined;
}

const pause = (closing: AbortSignal) => setTimeout(retryMs, undefined, { signal: closing }).catch(() => undefined);

function connectionOptions(uri: string): ConnectionOptions {
  return {
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    serverSelectionTimeoutMS: 1500,
    connectTimeoutMS: 1500,
    // A server that falls silent without closing its connections is noticed by its missing heartbeat, within 2 s. One
    // connection asks; the driver's streaming protocol would need two, and send as much again.
    heartbeatFrequencyMS: heartbeatMs,
    serverMonitoringMode: 'poll',
    maxPoolSize: 50,
    minPoolSize: 2,
    ...(/[?&]w=/.test(uri) ? {} : { writeConcern: { w: 'majority', journal: true } }),
    readConcern: { level: 'majority' },
    retryWrites: false,
  };
}

/** A server that responds to heartbeats need not be asked again whether it does. */
function noteHeartbeats(connection: Connection, state: ConnectOptions['state']): void {
  const client = connection.getClient();
  client.on('serverHeartbeatSucceeded', ({ reply }) => {
    if (reply.isWritablePrimary !== false) state.respondedAt = performance.now();
  });
  client.on('serverHeartbeatFailed', () => {
    state.respondedAt = Number.NEGATIVE_INFINITY;
  });
}
