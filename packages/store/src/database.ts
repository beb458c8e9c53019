import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import mongoose, { type Connection, type ConnectOptions as ConnectionOptions, mongo } from 'mongoose';
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
const maxTimeExpired = 50;

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

/** Runs a store operation; an unreachable database becomes `store_unavailable`, with the cause kept for the log. */
export async function storeCall<Result>(operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    if (isUnreachable(error)) {
      throw new DomainError('unavailable', 'store_unavailable', 'The database is unavailable.', {
        cause: error,
        retryAfterSeconds: 1,
      });
    }
    throw error;
  }
}

/** Runs an upsert; where another inserts the same key at the same moment, MongoDB fails one of them: it runs again. */
export async function retryUpsert<Result>(upsert: () => Promise<Result>): Promise<Result> {
  try {
    return await upsert();
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return await upsert();
  }
}

/** Runs a read with a limit of time; one that takes longer becomes `search_too_slow`, with `advice` for the caller. */
export async function translateTimeLimit<Result>(advice: string, operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError) || error.code !== maxTimeExpired) throw error;
    throw new DomainError('deadline_exceeded', 'search_too_slow', advice, { cause: error });
  }
}

/** Whether an insert failed because its key exists. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === 11_000;
}

/** Which writes of a bulk failed because their key exists; undefined if it failed in any other way. */
export function duplicatesIn(error: unknown): number[] | undefined {
  if (!(error instanceof mongo.MongoBulkWriteError)) return undefined;
  const failed = [error.writeErrors].flat();
  const isDuplicates = failed.length > 0 && failed.every(({ code }) => code === 11_000);
  return isDuplicates ? failed.map(({ index }) => index) : undefined;
}

/**
 * What a server says that is stepping down, shutting down or not the primary any more: ShutdownInProgress,
 * PrimarySteppedDown, NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange,
 * NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary.
 */
const leaving = new Set<unknown>([91, 189, 10_107, 11_600, 11_602, 13_435, 13_436]);

const brokenSocket = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'ECONNABORTED']);

/** Whether an operation failed because there is no server that could have carried it out. */
export function isUnreachable(error: unknown): boolean {
  // The driver wraps whatever a bulk write fails with.
  if (error instanceof mongo.MongoBulkWriteError && error.errorResponse instanceof Error) {
    return isUnreachable(error.errorResponse);
  }
  // What a socket fails with that breaks in the middle of a write reaches us as it is.
  if (error instanceof Error && 'code' in error && brokenSocket.has(error.code)) return true;
  return (
    (error instanceof mongo.MongoServerError && leaving.has(error.code)) ||
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoNotConnectedError ||
    // This process is stopping, and its client has gone already.
    error instanceof mongo.MongoClientClosedError ||
    error instanceof mongoose.Error.MongooseServerSelectionError ||
    // What mongoose throws before the first connection has no class of its own.
    (error instanceof mongoose.MongooseError && error.message.includes('before initial connection'))
  );
}
