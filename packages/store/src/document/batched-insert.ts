import { duplicatesIn, isDuplicateKey, isUnreachable } from './store-error.ts';

/** A collection, whatever the type of its documents. */
interface InsertTarget {
  insertOne(document: never): Promise<unknown>;
  insertMany(documents: never, options: { ordered: boolean }): Promise<unknown>;
}

interface WaitingInsert {
  document: object;
  resolve(isInserted: boolean): void;
  reject(error: unknown): void;
}

/**
 * Makes an insert that batches concurrent calls: documents that arrive while a command is running are inserted together
 * by the next command, so that many share one round trip and one journal write. The insert returns false if the key of
 * its document exists already.
 */
export function batchedInsert(collection: InsertTarget): (document: object) => Promise<boolean> {
  let waiting: WaitingInsert[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      let batch = waiting;
      waiting = [];
      try {
        const duplicates = await insertAll(collection, batch);
        for (const [index, { resolve }] of batch.entries()) resolve(!duplicates.includes(index));
      } catch (error) {
        // The waiting inserts would fail in the same way, and only later.
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

/** Inserts documents. Returns the indexes of those whose key exists already. */
async function insertAll(collection: InsertTarget, batch: readonly WaitingInsert[]): Promise<number[]> {
  const documents = batch.map(({ document }) => document);
  try {
    if (documents.length === 1) await collection.insertOne(documents[0] as never);
    else await collection.insertMany(documents as never, { ordered: false });
    return [];
  } catch (error) {
    const duplicates = isDuplicateKey(error) && documents.length === 1 ? [0] : duplicatesIn(error);
    if (!duplicates) throw error;
    return duplicates;
  }
}
