import { DomainError } from '@ticketing/errors/domain-error.ts';
import mongoose, { mongo } from 'mongoose';

const maxTimeExpired = 50;

/**
 * Runs a store operation. An unreachable database becomes the error store_unavailable, a database without space on its disk
 * storage_full. Their causes are logged.
 */
export async function storeCall<Result>(operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    if (isOutOfSpace(error)) throw storageFull({ cause: error });
    if (isUnreachable(error)) {
      throw new DomainError('unavailable', 'store_unavailable', 'The database is unavailable.', {
        cause: error,
        retryAfterSeconds: 1,
      });
    }
    throw error;
  }
}

/** Makes the error for a write while the disk of the database is full, or nearly. */
export function storageFull(options: { cause?: unknown; followsChange?: boolean } = {}): DomainError {
  const detail = 'The database has no space left. Reads and deletions go on.';
  return new DomainError('unavailable', 'storage_full', detail, { ...options, retryAfterSeconds: 5 });
}

const outOfDiskSpace = 14_031;

/** Whether a write failed because the disk of the database is full. Some engines report only the text of the system. */
export function isOutOfSpace(error: unknown): boolean {
  return (
    error instanceof mongo.MongoServerError &&
    (error.code === outOfDiskSpace || error.message.includes('No space left on device'))
  );
}

/** Runs an upsert, and runs it again if it fails because another one has inserted the same key at the same moment. */
export async function retryUpsert<Result>(upsert: () => Promise<Result>): Promise<Result> {
  try {
    return await upsert();
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return await upsert();
  }
}

/**
 * Runs a read that has a time limit. If it takes longer, the error is search_too_slow, with `advice` for the caller.
 */
export async function translateTimeLimit<Result>(advice: string, operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError) || error.code !== maxTimeExpired) throw error;
    throw new DomainError('deadline_exceeded', 'search_too_slow', advice, { cause: error });
  }
}

/** Whether an insert failed because its key exists already. */
export function isDuplicateKey(error: unknown): boolean {
  if (!(error instanceof mongo.MongoServerError)) return false;
  // MongoDB-compatible servers report it without its code if it occurs in a `findAndModify`.
  return error.code === 11_000 || /^(?:duplicate|conflicting) key value /.test(error.message);
}

/** Whether a write failed only because another one was made at the same moment, so that it can be made again at once. */
export function isWriteConflict(error: unknown): boolean {
  if (!(error instanceof mongo.MongoServerError)) return false;
  // MongoDB-compatible servers report the conflict of the database below them.
  return error.code === 112 || error.message === 'deadlock detected';
}

/**
 * Returns the indexes of the writes of a bulk whose key exists already; undefined if any write failed for another
 * reason.
 */
export function duplicatesIn(error: unknown): number[] | undefined {
  if (!(error instanceof mongo.MongoBulkWriteError)) return undefined;
  const failed = [error.writeErrors].flat();
  const areDuplicates = failed.length > 0 && failed.every(({ code }) => code === 11_000);
  return areDuplicates ? failed.map(({ index }) => index) : undefined;
}

/**
 * The error codes of a server that is stepping down, shutting down or no longer the primary: ShutdownInProgress,
 * PrimarySteppedDown, NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange,
 * NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary.
 */
const unavailableServerCodes = new Set<unknown>([91, 189, 10_107, 11_600, 11_602, 13_435, 13_436]);

const brokenSocketCodes = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'ECONNABORTED']);

/** Whether an operation failed because no server could be reached, no connection was free, or the connection broke. */
export function isUnreachable(error: unknown): boolean {
  // The driver wraps the error of a bulk write.
  if (error instanceof mongo.MongoBulkWriteError && error.errorResponse instanceof Error) {
    return isUnreachable(error.errorResponse);
  }
  // The error of a socket that breaks in the middle of a write is not wrapped by the driver.
  if (error instanceof Error && 'code' in error && brokenSocketCodes.has(error.code)) return true;
  return (
    (error instanceof mongo.MongoServerError && unavailableServerCodes.has(error.code)) ||
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoNotConnectedError ||
    isWithoutConnection(error) ||
    // This process is stopping, and has closed its client.
    error instanceof mongo.MongoClientClosedError ||
    error instanceof mongoose.Error.MongooseServerSelectionError ||
    // mongoose has no class for the error that it throws before the first connection.
    (error instanceof mongoose.MongooseError && error.message.includes('before initial connection'))
  );
}

/** Whether all connections stayed in use. The driver does not export the class of this error. */
function isWithoutConnection(error: unknown): boolean {
  return error instanceof mongo.MongoDriverError && error.name === 'MongoWaitQueueTimeoutError';
}
