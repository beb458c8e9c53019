import { DomainError } from '@ticketing/errors/domain-error.ts';
import mongoose, { mongo } from 'mongoose';

const maxTimeExpired = 50;

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
  if (!(error instanceof mongo.MongoServerError)) return false;
  // MongoDB-compatible servers report it by its text alone where an upsert of `findAndModify` meets it.
  return error.code === 11_000 || error.message.startsWith('duplicate key value');
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
