import mongoose from 'mongoose';
import { vi } from 'vitest';

/** Every operation of the driver that writes. */
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

type Write = (this: unknown, ...given: unknown[]) => Promise<unknown>;

/** Runs work in a process that dies before or after its nth write to any store. Returns whether it came to that. */
export async function crashAtWrite(
  nth: number,
  when: 'before' | 'after',
  work: () => Promise<unknown>,
): Promise<boolean> {
  let count = 0;
  let isDead = false;
  const killed = new Error('killed');
  for (const name of writes) {
    const { prototype } = mongoose.mongo.Collection as unknown as { prototype: Record<string, Write> };
    const original = prototype[name] as Write;
    vi.spyOn(prototype, name).mockImplementation(async function (this: unknown, ...given) {
      if (isDead) throw killed;
      count += 1;
      const isLast = count === nth;
      if (isLast) isDead = true;
      if (isLast && when === 'before') throw killed;
      const result = await original.apply(this, given);
      if (isDead) throw killed;
      return result;
    });
  }
  try {
    await work();
  } catch (error) {
    if (error !== killed) throw error;
  } finally {
    vi.restoreAllMocks();
  }
  return isDead;
}

/**
 * Attempts a piece of work with a crash at each of its writes, before and after it, until an attempt comes to its end.
 * Returns how many writes it has.
 */
export async function crashAtEachWrite(
  attempt: (nth: number, when: 'before' | 'after') => Promise<boolean>,
): Promise<number> {
  for (let nth = 1; ; nth++) {
    for (const when of ['before', 'after'] as const) if (!(await attempt(nth, when))) return nth - 1;
  }
}
