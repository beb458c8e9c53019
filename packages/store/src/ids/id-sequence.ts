import type { Connection, mongo } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';
import { storeCall } from '../document/store-error.ts';
import { updateOrInsert } from '../document/update-or-insert.ts';

/** Hands out ids that are never used again; gaps are possible. Errors: store_unavailable. */
export interface IdSequence {
  next(): Promise<number>;
  /**
   * Gives back an id that was not used. It is handed out again only if it was the last one and its reservation is still
   * valid, so that the ids of this process rise with time; otherwise it stays a gap.
   */
  release(id: number): void;
}

interface CounterDocument {
  _id: string;
  value: number;
}

/** How long ids that were reserved in advance are handed out. */
const reservationMs = 100;

/**
 * Opens a sequence. One write reserves ids for all callers that wait, and in advance for as many as were used since the
 * last write, if that was at most 200 ms ago. Under low load nothing is reserved in advance, so that gaps are few and
 * the ids of all instances rise with time. `now` never goes back.
 */
export function idSequence(
  connection: Connection,
  name: string,
  now: () => number = () => performance.now(),
): IdSequence {
  const counters = openCollection<CounterDocument>(connection, 'counters');
  const reserved = reservedIds(now);
  let waiting: { resolve(id: number): void; reject(error: unknown): void }[] = [];
  let isReserving = false;

  async function reserve(): Promise<void> {
    isReserving = true;
    while (waiting.length > 0) {
      const count = Math.max(waiting.length, reserved.expectedUse());
      try {
        reserved.fill(await advance(counters, name, count), count);
        const batch = waiting;
        waiting = batch.splice(count);
        for (const { resolve } of batch) resolve(reserved.take() as number);
      } catch (error) {
        const batch = waiting;
        waiting = [];
        for (const { reject } of batch) reject(error);
      }
    }
    isReserving = false;
  }

  return {
    next: () =>
      new Promise((resolve, reject) => {
        const id = reserved.isValid() ? reserved.take() : undefined;
        if (id !== undefined) {
          resolve(id);
          return;
        }
        waiting.push({ resolve, reject });
        if (!isReserving) void reserve();
      }),
    release: reserved.release,
  };
}

/** Returns the last number that each sequence of a database has handed out, by its name. */
export async function lastIds(connection: Connection): Promise<Record<string, number>> {
  const counters = openCollection<CounterDocument>(connection, 'counters');
  const found = await storeCall(() => counters.find().toArray());
  return Object.fromEntries(found.map(({ _id, value }) => [_id, value]));
}

/** Lets a sequence go on after a number, unless it has come farther already. */
export async function skipIds(connection: Connection, name: string, last: number): Promise<void> {
  const counters = openCollection<CounterDocument>(connection, 'counters');
  await storeCall(() => updateOrInsert(counters, name, { $max: { value: last } }));
}

/** Returns the ids that one write has reserved, and how many were used since. */
function reservedIds(now: () => number) {
  let ids: number[] = [];
  let validUntil = Number.NEGATIVE_INFINITY;
  let countedSince = Number.NEGATIVE_INFINITY;
  let used = 0;
  let lastTaken = 0;
  const isValid = () => now() < validUntil;

  return {
    isValid,
    take(): number | undefined {
      used += 1;
      const id = ids.pop();
      lastTaken = id ?? lastTaken;
      return id;
    },
    fill(last: number, count: number): void {
      ids = Array.from({ length: count }, (_, index) => last - index);
      validUntil = now() + reservationMs;
    },
    release(id: number): void {
      if (id !== lastTaken || !isValid()) return;
      ids.push(id);
      lastTaken = 0;
    },
    /** Returns an estimate of the ids that are needed soon: as many as since the last call. Starts a new count. */
    expectedUse(): number {
      const expected = now() - countedSince > 2 * reservationMs ? 0 : used;
      countedSince = now();
      used = 0;
      return expected;
    },
  };
}

async function advance(counters: mongo.Collection<CounterDocument>, name: string, by: number): Promise<number> {
  const counter = await storeCall(() => updateOrInsert(counters, name, { $inc: { value: by } }));
  return counter.value;
}
