import { setTimeout } from 'node:timers/promises';
import mongoose, { type Connection, type ConnectOptions as ConnectionOptions } from 'mongoose';
import { followServerTime } from './server-time.ts';
import { isSetUp } from './store-format.ts';

/** The database of a service. */
export interface Database {
  /** Equal for all connections to the same database by the same URI. */
  id: string;
  connection: Connection;
  /** Resolves when the database has been reached for the first time, and is set up; never if it is closed before. */
  opened: Promise<void>;
  /** Rejects if the database does not respond, or is not set up. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** How a database is opened. */
export interface OpenOptions {
  /** Whether this process sets the database up; otherwise it counts as opened only when another process has. */
  isSetUpHere?: boolean;
  /** How many connections there are, and how long an operation waits for one. Tests replace it. */
  pool?: { size: number; waitMs: number };
}

/** An operation that gets no connection in this time fails as if the database could not be reached. */
const defaultPool = { size: 50, waitMs: 5_000 };

const retryMs = 500;
const reportAfterMs = 10_000;
const heartbeatMs = 500;
/** How old the last heartbeat may be to show that the server responds. */
const freshMs = 3 * heartbeatMs;

/**
 * Opens a database. Writes are acknowledged by a majority and journaled, unless the URI sets `w` (a single server has no
 * majority). Does not wait for the server: it keeps trying to connect and reports the first failure, and operations fail
 * within 2 seconds while no server can be reached, and within 5 while all connections are in use.
 */
export function openDatabase(
  uri: string,
  name: string,
  onUnreachable: (error: unknown) => void,
  { isSetUpHere = false, pool = defaultPool }: OpenOptions = {},
): Database {
  const connection = mongoose.createConnection();
  const closing = new AbortController();
  const state = { isOpened: false, respondedAt: Number.NEGATIVE_INFINITY };
  const connected = connect(connection, { uri, name, onUnreachable, isSetUpHere, pool, state }, closing.signal);
  return {
    id: `${uri} ${name}`,
    connection,
    opened: connected.then(() => (state.isOpened ? undefined : new Promise<never>(() => undefined))),
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

interface ConnectOptions extends Required<OpenOptions> {
  uri: string;
  name: string;
  onUnreachable(error: unknown): void;
  state: { isOpened: boolean; respondedAt: number };
}

/**
 * Connects. mongoose gives up when the first attempt fails, so attempts are repeated; later the driver reconnects by
 * itself. Returns a function that stops following the server's clock.
 */
async function connect(
  connection: Connection,
  { uri, name, onUnreachable, isSetUpHere, pool, state }: ConnectOptions,
  closing: AbortSignal,
): Promise<(() => void) | undefined> {
  let isReported = false;
  while (!closing.aborted) {
    let stopFollowing: (() => void) | undefined;
    try {
      await connection.openUri(uri, { dbName: name, ...connectionOptions(uri, pool) });
      stopFollowing = await followServerTime(connection);
      if (!isSetUpHere) await untilSetUp(connection, onUnreachable, closing);
      if (closing.aborted) return stopFollowing;
      recordHeartbeats(connection, state);
      state.isOpened = true;
      return stopFollowing;
    } catch (error) {
      stopFollowing?.();
      if (!isReported) onUnreachable(error);
      isReported = true;
      await pause(closing);
    }
  }
  return undefined;
}

/** Waits until another process has set the database up. Reports once if that takes longer than a set-up should. */
async function untilSetUp(
  connection: Connection,
  onUnreachable: (error: unknown) => void,
  closing: AbortSignal,
): Promise<void> {
  for (let attempt = 1; !closing.aborted && !(await isSetUp(connection)); attempt++) {
    if (attempt * retryMs === reportAfterMs)
      onUnreachable(new Error('it is not set up for this version of the system'));
    await pause(closing);
  }
}

const pause = (closing: AbortSignal) => setTimeout(retryMs, undefined, { signal: closing }).catch(() => undefined);

function connectionOptions(uri: string, { size, waitMs }: typeof defaultPool): ConnectionOptions {
  return {
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    serverSelectionTimeoutMS: 1500,
    connectTimeoutMS: 1500,
    // A server that stops responding without closing its connections is noticed by its missing heartbeat, within 2 s.
    // Polling needs one connection; the driver's streaming protocol would need two, and twice the messages.
    heartbeatFrequencyMS: heartbeatMs,
    serverMonitoringMode: 'poll',
    maxPoolSize: size,
    minPoolSize: Math.min(2, size),
    waitQueueTimeoutMS: waitMs,
    ...(/[?&]w=/.test(uri) ? {} : { writeConcern: { w: 'majority', journal: true } }),
    readConcern: { level: 'majority' },
    retryWrites: false,
  };
}

/** Records when the server last responded to a heartbeat, so that `check` seldom needs a request of its own. */
function recordHeartbeats(connection: Connection, state: ConnectOptions['state']): void {
  const client = connection.getClient();
  client.on('serverHeartbeatSucceeded', ({ reply }) => {
    if (reply.isWritablePrimary !== false) state.respondedAt = performance.now();
  });
  client.on('serverHeartbeatFailed', () => {
    state.respondedAt = Number.NEGATIVE_INFINITY;
  });
}
