import { type Connection, type Model, Schema } from 'mongoose';
import { retryUpsert, storeCall } from './database.ts';

/** A number that only rises. */
export interface CounterDocument {
  _id: string;
  value: number;
}

/** Hands out ids that are never used again; gaps are possible. */
export interface IdSequence {
  next(): Promise<number>;
  /** Takes back an id that nothing has been named by. */
  release(id: number): void;
}

/** The model of the counters on a connection. */
export function counterModel(connection: Connection): Model<CounterDocument> {
  const schema = new Schema<CounterDocument>(
    { _id: String, value: Number },
    { versionKey: false, collection: 'counters' },
  );
  return connection.model<CounterDocument>('Counter', schema);
}

/** How long an id that was reserved for others to come may wait for them. */
const reservedForMs = 100;

/**
 * Opens a sequence. One write reserves ids for all who wait, and for as many as the last moment's rate promises; without
 * such a rate nothing is left over, so that ids rise with time over all instances and gaps are few.
 */
export function idSequence(counters: Model<CounterDocument>, name: string, now: () => number = Date.now): IdSequence {
  let waiting: { resolve(id: number): void; reject(error: unknown): void }[] = [];
  let running = false;
  let spare: number[] = [];
  let spareUntil = 0;
  let usedSince = 0;
  let used = 0;
  const released: number[] = [];

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
    return spare.pop();
  }

  return {
    next: () =>
      new Promise((resolve, reject) => {
        const id = released.pop() ?? (now() < spareUntil ? take() : undefined);
        if (id !== undefined) {
          resolve(id);
          return;
        }
        waiting.push({ resolve, reject });
        if (!running) void reserve();
      }),
    release: (id) => released.push(id),
  };
}

async function advance(counters: Model<CounterDocument>, name: string, by: number): Promise<number> {
  const counter = await storeCall(() =>
    retryUpsert(() =>
      counters
        .findOneAndUpdate({ _id: name }, { $inc: { value: by } }, { upsert: true, returnDocument: 'after' })
        .lean(),
    ),
  );
  return counter.value;
}
