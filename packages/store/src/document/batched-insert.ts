import { type BatchOptions, batchedCalls } from '@ticketing/runtime/batched-calls.ts';
import { duplicatesIn, isDuplicateKey, isUnreachable } from './store-error.ts';

/** A collection, whatever the type of its documents. */
interface InsertTarget {
  insertOne(document: never): Promise<unknown>;
  insertMany(documents: never, options: { ordered: boolean }): Promise<unknown>;
}

/**
 * Makes an insert that batches concurrent calls, so that many share one round trip and one journal write. The insert
 * returns false if the key of its document exists already.
 */
export function batchedInsert(
  collection: InsertTarget,
  options: Pick<BatchOptions, 'atMost'> = {},
): (document: object) => Promise<boolean> {
  const insert = async (documents: readonly object[]) => {
    const duplicates = await insertAll(collection, documents);
    return documents.map((_, index) => !duplicates.includes(index));
  };
  // The inserts that wait would fail in the same way, and only later.
  return batchedCalls(insert, { ...options, failsAll: isUnreachable });
}

/** Inserts documents. Returns the indexes of those whose key exists already. */
async function insertAll(collection: InsertTarget, documents: readonly object[]): Promise<number[]> {
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
