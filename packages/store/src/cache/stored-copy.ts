import mongoose, { type Connection, type mongo } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';
import { isDuplicateKey, storeCall } from '../document/store-error.ts';

/** A copy of data of another service. Errors of every operation: store_unavailable. */
export interface StoredCopy {
  /** Returns the content, if it is newer than a version. */
  newerThan(version: number): Promise<Uint8Array | undefined>;
  /** Replaces the content, unless the stored version is as new or newer. */
  replace(version: number, content: Uint8Array): Promise<void>;
}

interface CopyDocument {
  _id: string;
  version: number;
  content: mongo.Binary;
}

/** Opens the copy with a name in the database of a service. */
export function openStoredCopy(connection: Connection, name: string): StoredCopy {
  const copies = openCollection<CopyDocument>(connection, 'copies');

  async function replace(version: number, bytes: Uint8Array): Promise<void> {
    const content = new mongoose.mongo.Binary(bytes);
    const isOlder = { _id: name, version: { $lt: version } };
    const { matchedCount } = await copies.updateOne(isOlder, { $set: { version, content } });
    if (matchedCount > 0) return;
    try {
      await copies.insertOne({ _id: name, version, content });
    } catch (error) {
      // The stored one is as new, or newer.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  return {
    newerThan: (version) =>
      storeCall(async () => (await copies.findOne({ _id: name, version: { $gt: version } }))?.content.value()),
    replace: (version, content) => storeCall(() => replace(version, content)),
  };
}
