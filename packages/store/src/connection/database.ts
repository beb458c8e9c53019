import { setTimeout } from 'node:timers/promises';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import mongoose, { type Connection, type ConnectOptions as ConnectionOptions } from 'mongoose';
import { recordCommands } from './record-commands.ts';
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
  /** Whether it was reached, and is not set up for this version of the system yet. */
  isMissingSetUp(): boolean;
  close(): Promise<void>;
}

/** How a database is opened. */
export interface OpenOptions {
  /** Whether this process sets the database up; otherwise it counts as opened only when another process has. */
  isSetUpHere?: boolean;
  /** How many connections there are, and how long an operation waits for one. Tests replace it. */
  pool?: { size: number; waitMs: number };
  /** How long it may be unreachable after this process has begun to open it, before that is reported. */
  quietMs?: number;
  /** Records a span of each command that a traced request sends. */
  tracer?: Tracer | undefined;
}

/** An operation that gets no connection in this time fails as if the database could not be reached. */
const defaultPool = { size: 50, waitMs: 5_000 };

const retryMs = 500;
/** A whole system that starts on a busy machine reaches its database within this time. */
const reportAfterMs = 10_000;
const heartbeatMs = 500;
/** How old the last heartbeat may be to show that the server responds. */
const freshMs = 3 * heartbeatMs;

/**
 * Opens a database. Writes are acknowledged by a majority and journaled, unless the URI sets `w` (a single server has no
 * majority). Does not wait for the server: it keeps trying to connect and reports once that it fails, and operations fail
 * within 2 seconds while no server can be reached, and within 5 while all connections are in use.
 */
export function openDatabase(
  uri: string,
  name: string,
  onUnreachable: (error: unknown) => void,
  { isSetUpHere = false, pool = defaultPool, quietMs = reportAfterMs, tracer }: OpenOptions = {},
): Database {
  const connection = mongoose.createConnection();
  const closing = new AbortController();
  const state: State = { isOpened: false, isMissingSetUp: false, respondedAt: Number.NEGATIVE_INFINITY };
  const connected = connect(
    connection,
    { uri, name, onUnreachable, isSetUpHere, pool, quietMs, tracer, state },
    closing.signal,
  );
  return {
    id: `${uri} ${name}`,
    connection,
    opened: connected.then(() => (state.isOpened ? undefined : new Promise<never>(() => undefined))),
    async check() {
      if (!state.isOpened) throw new Error('the database has not been reached, or is not set up');
      if (performance.now() - state.respondedAt < freshMs) return;
      await connection.getClient().db(name).command({ ping: 1 });
    },
    isMissingSetUp: () => state.isMissingSetUp,
    async close() {
      closing.abort();
      const stopFollowing = await connected;
      stopFollowing?.();
      await connection.close();
    },
  };
}

interface ConnectOptions extends Required<Omit<OpenOptions, 'tracer'>> {
  tracer: Tracer | undefined;
  uri: string;
  name: string;
  onUnreachable(error: unknown): void;
  state: State;
}

/** The known state of a database. */
interface State {
  isOpened: boolean;
  isMissingSetUp: boolean;
  respondedAt: number;
}

/**
 * Connects. mongoose gives up when the first attempt fails, so attempts are repeated; later the driver reconnects by
 * itself. Returns a function that stops following the server's clock.
 */
async function connect(
  connection: Connection,
  { uri, name, onUnreachable, isSetUpHere, pool, quietMs, tracer, state }: ConnectOptions,
  closing: AbortSignal,
): Promise<(() => void) | undefined> {
  let isReported = false;
  const openedAt = performance.now();
  while (!closing.aborted) {
    let stopFollowing: (() => void) | undefined;
    try {
      await connection.openUri(uri, {
        dbName: name,
        monitorCommands: tracer !== undefined,
        ...connectionOptions(uri, pool),
      });
      stopFollowing = await followServerTime(connection);
      if (!isSetUpHere) await untilSetUp(connection, state, onUnreachable, closing);
      if (closing.aborted) return stopFollowing;
      recordHeartbeats(connection, state);
      if (tracer) recordCommands(connection.getClient(), tracer);
      state.isOpened = true;
      return stopFollowing;
    } catch (error) {
      stopFollowing?.();
      if (!isReported && performance.now() - openedAt >= quietMs) {
        onUnreachable(error);
        isReported = true;
      }
      await pause(closing);
    }
  }
  return undefined;
}

/** Waits until another process has set the database up. Reports once if that takes longer than a set-up should. */
async function untilSetUp(
  connection: Connection,
  state: State,
  onUnreachable: (error: unknown) => void,
  closing: AbortSignal,
): Promise<void> {
  try {
    for (let attempt = 1; !closing.aborted && !(await isSetUp(connection)); attempt++) {
      state.isMissingSetUp = true;
      if (attempt * retryMs === reportAfterMs)
        onUnreachable(new Error('it is not set up for this version of the system'));
      await pause(closing);
    }
  } finally {
    // Cleared even if the database is not reached any more: nobody knows then whether it is set up.
    state.isMissingSetUp = false;
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
    // While a server hangs, requests that need new connections fail together, and not two after two.
    maxConnecting: Math.min(10, size),
    minPoolSize: Math.min(2, size),
    waitQueueTimeoutMS: waitMs,
    ...(/[?&]w=/.test(uri) ? {} : { writeConcern: { w: 'majority', journal: true } }),
    readConcern: { level: 'majority' },
    // A second attempt would wait for a server once more, and the request would be responded to after 3.5 s instead of 2.
    retryReads: false,
    retryWrites: false,
  };
}

/** Records when the server last responded to a heartbeat, so that `check` seldom needs another request. */
function recordHeartbeats(connection: Connection, state: State): void {
  const client = connection.getClient();
  client.on('serverHeartbeatSucceeded', ({ reply }) => {
    if (reply.isWritablePrimary !== false) state.respondedAt = performance.now();
  });
  client.on('serverHeartbeatFailed', () => {
    state.respondedAt = Number.NEGATIVE_INFINITY;
  });
}
