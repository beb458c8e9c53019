import type { Collection } from 'mongoose';
import { duplicatesIn, isDuplicateKey, isUnreachable } from './store-error.ts';

interface Waiting {
  document: object;
  resolve(isInserted: boolean): void;
  reject(error: unknown): void;
}

/**
 * Makes an insert that callers share: those who call while one is on its way are written together by the next, so that
 * under load one command, one journal write and one answer serve many. Answers false if the key of a document is taken.
 */
export function batchedInsert(collection: Collection): (document: object) => Promise<boolean> {
  let waiting: Waiting[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      let batch = waiting;
      waiting = [];
      try {
        const taken = await insertAll(collection, batch);
        for (const [index, { resolve }] of batch.entries()) resolve(!taken.includes(index));
      } catch (error) {
        // Whoever waits would find the database away in its turn, as late again.
        if (isUnreachable(error)) batch = batch.concat(waiting.splice(0));
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  return (document) =>
    new Promise((resolve, reject) => {
      waiting.push({ document, resolve, reject });
      if (!isRunning) void run();
    });
}

/** Answers which of the documents have a key that is taken. */
async function insertAll(collection: Collection, batch: readonly Waiting[]): Promise<number[]> {
  const documents = batch.map(({ document }) => document);
  try {
    if (documents.length === 1) await collection.insertOne(documents[0] as object);
    else await collection.insertMany(documents, { ordered: false });
    return [];
  } catch (error) {
    const taken = isDuplicateKey(error) && documents.length === 1 ? [0] : duplicatesIn(error);
    if (!taken) throw error;
    return taken;
  }
}
