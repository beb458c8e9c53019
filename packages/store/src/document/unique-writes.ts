import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { type conflict, retryOnConflict } from './retry-on-conflict.ts';

/**
 * Makes a write to a unique index, and repeats it as `retryOnConflict` does. Errors: those of the write, such as a
 * duplicate key; concurrent_change.
 */
export type UniqueWrites = <Result>(write: () => Promise<Result | typeof conflict>) => Promise<Result>;

const tooOften = 'Others write to the database too often at the same time.';

/**
 * Opens the writes to a unique index. They are made one after the other in this process, because servers that only
 * speak MongoDB's protocol report deadlocks of concurrent ones.
 */
export function uniqueWrites(runtime: Pick<Runtime, 'random'>): UniqueWrites {
  const writes = keyedQueue<string>();
  return (write) => writes.run('write', () => retryOnConflict(runtime, tooOften, write));
}
