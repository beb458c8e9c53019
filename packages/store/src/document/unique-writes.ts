import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { retryConflicts } from './retry-conflicts.ts';

/** Makes writes to a unique index. Errors: those of the write, such as a duplicate key, but no write conflict. */
export type UniqueWrites = <Result>(write: () => Promise<Result>) => Promise<Result>;

/**
 * Opens the writes to a unique index. They are made one after the other in this process, because servers that only
 * speak MongoDB's protocol report deadlocks of concurrent ones.
 */
export function uniqueWrites(runtime: Pick<Runtime, 'random'>): UniqueWrites {
  const writes = keyedQueue<string>();
  return (write) => writes.run('write', () => retryConflicts(write, runtime));
}
