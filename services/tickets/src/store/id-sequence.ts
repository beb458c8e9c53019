import { type Connection, type Model, Schema } from 'mongoose';
import { reachable, upserted } from './database.ts';

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

/**
 * Opens a sequence. Requests that arrive while a reservation is on its way share the next one, so that many creations
 * at once cost few writes.
 */
export function idSequence(counters: Model<CounterDocument>, name: string): IdSequence {
  let waiting: { resolve(id: number): void; reject(error: unknown): void }[] = [];
  let running = false;
  const released: number[] = [];

  async function reserve(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const last = await advance(counters, name, batch.length);
        batch.forEach(({ resolve }, index) => {
          resolve(last - batch.length + 1 + index);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  }

  return {
    next: () =>
      new Promise((resolve, reject) => {
        const id = released.pop();
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
  const counter = await reachable(() =>
    upserted(() =>
      counters
        .findOneAndUpdate({ _id: name }, { $inc: { value: by } }, { upsert: true, returnDocument: 'after' })
        .lean(),
    ),
  );
  return counter.value;
}
