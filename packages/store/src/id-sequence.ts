import type { Connection, mongo } from 'mongoose';
import { retryUpsert, storeCall } from './store-error.ts';

/** Hands out ids that are never used again; gaps are possible. */
export interface IdSequence {
  next(): Promise<number>;
  /**
   * Takes back an id that was given to nothing. It is given again only at once and if none above it was given since, so
   * that ids rise with time in this process; else it stays a gap.
   */
  release(id: number): void;
}

interface CounterDocument {
  _id: string;
  value: number;
}

/** For how long ids that were reserved for requests to come are given to them. Units: ms. */
const reservedForMs = 100;

/**
 * Opens a sequence. One write reserves ids for all who wait, and for as many as the last moment's rate promises; without
 * such a rate nothing is left over, so that ids rise with time over all instances and gaps are few.
 */
export function idSequence(connection: Connection, name: string, now: () => number = Date.now): IdSequence {
  const counters = connection.collection('counters') as unknown as mongo.Collection<CounterDocument>;
  let waiting: { resolve(id: number): void; reject(error: unknown): void }[] = [];
  let running = false;
  let spare: number[] = [];
  let spareUntil = 0;
  let usedSince = 0;
  let used = 0;
  let lastTaken = 0;

  async function reserve(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const expected = now() - usedSince > 2 * reservedForMs ? 0 : used;
      const count = Math.max(waiting.length, expected);
      usedSince = now();
      used = 0;
      try {
        const last = await advance(counters, name, count);
        spare = Array.from({ length: count }, (_, index) => last - index);
        spareUntil = now() + reservedForMs;
        const batch = waiting;
        waiting = batch.splice(count);
        for (const { resolve } of batch) resolve(take() as number);
      } catch (error) {
        const batch = waiting;
        waiting = [];
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  }

  function take(): number | undefined {
    used += 1;
    const id = spare.pop();
    lastTaken = id ?? lastTaken;
    return id;
  }

  return {
    next: () =>
      new Promise((resolve, reject) => {
        const id = now() < spareUntil ? take() : undefined;
        if (id !== undefined) {
          resolve(id);
          return;
        }
        waiting.push({ resolve, reject });
        if (!running) void reserve();
      }),
    release(id) {
      if (id !== lastTaken || now() >= spareUntil) return;
      spare.push(id);
      lastTaken = 0;
    },
  };
}

async function advance(counters: mongo.Collection<CounterDocument>, name: string, by: number): Promise<number> {
  const counter = await storeCall(() =>
    retryUpsert(() =>
      counters.findOneAndUpdate({ _id: name }, { $inc: { value: by } }, { upsert: true, returnDocument: 'after' }),
    ),
  );
  if (!counter) throw new Error(`the counter ${name} was lost`);
  return counter.value;
}
