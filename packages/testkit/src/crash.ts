import { AsyncLocalStorage } from 'node:async_hooks';
import mongoose from 'mongoose';
import { vi } from 'vitest';
import { isDeep } from './search-effort.ts';

/** The write operations of the driver. */
const writes = [
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'replaceOne',
  'findOneAndUpdate',
  'findOneAndReplace',
  'findOneAndDelete',
  'deleteOne',
  'deleteMany',
  'bulkWrite',
] as const;

type Write = (this: unknown, ...values: unknown[]) => Promise<unknown>;

/** The work whose process crashes. Writes of other work in the process, such as schedulers, are left alone. */
const crashing = new AsyncLocalStorage<Error>();

/**
 * Runs work as if its process crashed before or after its nth write to a store. With `isWholeProcess`, all writes of
 * this process meanwhile are counted, for work that services of this process do when they are called. Returns whether
 * there was such a write.
 */
export async function crashAtWrite(
  nth: number,
  when: 'before' | 'after',
  work: () => Promise<unknown>,
  { isWholeProcess = false } = {},
): Promise<boolean> {
  let count = 0;
  let hasCrashed = false;
  const crash = new Error('crashed');
  for (const name of writes) {
    const { prototype } = mongoose.mongo.Collection as unknown as { prototype: Record<string, Write> };
    const original = prototype[name] as Write;
    vi.spyOn(prototype, name).mockImplementation(async function (this: unknown, ...values) {
      if (!isWholeProcess && crashing.getStore() !== crash) return original.apply(this, values);
      if (hasCrashed) throw crash;
      count += 1;
      const isLast = count === nth;
      if (isLast) hasCrashed = true;
      if (isLast && when === 'before') throw crash;
      const result = await original.apply(this, values);
      if (hasCrashed) throw crash;
      return result;
    });
  }
  try {
    await crashing.run(crash, work);
  } catch (error) {
    if (error !== crash) throw error;
  } finally {
    vi.restoreAllMocks();
  }
  return hasCrashed;
}

/**
 * Makes an attempt for each write of some work, with a crash before that write, until there is no further write, and one
 * with a crash after the last write. Returns how many writes the work has. A crash after any other write leaves the store
 * as a crash before the next one does: only the part "searches" of the acceptance run makes these attempts too.
 */
export async function crashAtEachWrite(
  attempt: (nth: number, when: 'before' | 'after') => Promise<boolean>,
): Promise<number> {
  let writeCount = 0;
  while (await attempt(writeCount + 1, 'before')) {
    writeCount += 1;
    if (isDeep) await attempt(writeCount, 'after');
  }
  if (writeCount > 0 && !isDeep) await attempt(writeCount, 'after');
  return writeCount;
}
