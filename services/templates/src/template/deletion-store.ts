import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection, mongo } from 'mongoose';

/** A response template that is deleted, or being deleted. Units: `begunAt` in Unix ms. */
export interface TemplateDeletion {
  id: number;
  begunAt: number;
}

/** The deletions of response templates that AI agents may not know of yet. Errors of every operation: store_unavailable. */
export interface TemplateDeletionStore {
  /** Adds a deletion, unless it is there already. */
  begin(id: number): Promise<void>;
  /** Returns the oldest deletions, at most `limit`. */
  oldest(limit: number): Promise<TemplateDeletion[]>;
  finish(id: number): Promise<void>;
}

interface DeletionDocument {
  _id: number;
  begunAt: Date;
}

function deletionCollection(connection: Connection): mongo.Collection<DeletionDocument> {
  return openCollection<DeletionDocument>(connection, 'templateDeletions');
}

/** Builds the missing indexes of the deletions. */
export async function buildDeletionIndexes(connection: Connection): Promise<void> {
  await deletionCollection(connection).createIndex({ begunAt: 1 });
}

/** Opens the deletions on a connection. */
export function templateDeletionStore(connection: Connection, now: () => number): TemplateDeletionStore {
  const deletions = deletionCollection(connection);
  return {
    begin: (id) =>
      storeCall(async () => {
        const set = { $setOnInsert: { begunAt: new Date(now()) } };
        await retryUpsert(() => deletions.updateOne({ _id: id }, set, { upsert: true }));
      }),
    oldest: (limit) =>
      storeCall(async () => {
        const found = await deletions.find().sort({ begunAt: 1 }).limit(limit).toArray();
        return found.map(({ _id, begunAt }) => ({ id: _id, begunAt: begunAt.getTime() }));
      }),
    finish: (id) =>
      storeCall(async () => {
        await deletions.deleteOne({ _id: id });
      }),
  };
}
