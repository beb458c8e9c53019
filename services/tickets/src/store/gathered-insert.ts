import { type Collection, mongo } from 'mongoose';
import { isDuplicateKey } from './database.ts';

interface Waiting {
  document: object;
  resolve(isInserted: boolean): void;
  reject(error: unknown): void;
}

/**
 * Makes an insert that callers share: those who call while one is on its way are written together by the next, so that
 * under load one command, one journal write and one answer serve many. Answers false if the key of a document is taken.
 */
export function gatheredInsert(collection: Collection): (document: object) => Promise<boolean> {
  let waiting: Waiting[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await insertAll(collection, batch);
    }
    isRunning = false;
  }

  return (document) =>
    new Promise((resolve, reject) => {
      waiting.push({ document, resolve, reject });
      if (!isRunning) void run();
    });
}

async function insertAll(collection: Collection, batch: readonly Waiting[]): Promise<void> {
  const [first, second] = batch;
  if (first && !second) {
    await insertOne(collection, first);
    return;
  }
  const taken = new Set<number>();
  try {
    await collection.insertMany(
      batch.map(({ document }) => document),
      { ordered: false },
    );
  } catch (error) {
    const errors = error instanceof mongo.MongoBulkWriteError ? [error.writeErrors].flat() : [];
    if (errors.length === 0 || errors.some(({ code }) => code !== 11_000)) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const { index } of errors) taken.add(index);
  }
  for (const [index, { resolve }] of batch.entries()) resolve(!taken.has(index));
}

async function insertOne(collection: Collection, { document, resolve, reject }: Waiting): Promise<void> {
  try {
    await collection.insertOne(document);
    resolve(true);
  } catch (error) {
    if (isDuplicateKey(error)) resolve(false);
    else reject(error);
  }
}
