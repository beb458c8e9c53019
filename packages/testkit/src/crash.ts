import mongoose from 'mongoose';
import { vi } from 'vitest';

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

/** Runs work as if its process crashed before or after its nth write to a store. Returns whether there was such a write. */
export async function crashAtWrite(
  nth: number,
  when: 'before' | 'after',
  work: () => Promise<unknown>,
): Promise<boolean> {
  let count = 0;
  let hasCrashed = false;
  const crash = new Error('crashed');
  for (const name of writes) {
    const { prototype } = mongoose.mongo.Collection as unknown as { prototype: Record<string, Write> };
    const original = prototype[name] as Write;
    vi.spyOn(prototype, name).mockImplementation(async function (this: unknown, ...values) {
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
    await work();
  } catch (error) {
    if (error !== crash) throw error;
  } finally {
    vi.restoreAllMocks();
  }
  return hasCrashed;
}

/**
 * Makes an attempt for each write of some work, with a crash before and after that write, until there is no further write.
 * Returns how many writes the work has.
 */
export async function crashAtEachWrite(
  attempt: (nth: number, when: 'before' | 'after') => Promise<boolean>,
): Promise<number> {
  for (let nth = 1; ; nth++) {
    for (const when of ['before', 'after'] as const) if (!(await attempt(nth, when))) return nth - 1;
  }
}
