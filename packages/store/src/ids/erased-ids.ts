import type { Connection, mongo } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';
import { retryUpsert, storeCall } from '../document/store-error.ts';

/**
 * The ids of resources that were deleted elsewhere, about which nothing may be stored any more. Code that stores data
 * with such an id must look here afterwards: the erasure, which adds the id first, does not see later data.
 *
 * Errors of every operation: store_unavailable.
 */
export interface ErasedIds {
  add(id: number): Promise<void>;
  /** Returns the erased ones among some ids. */
  among(ids: readonly number[]): Promise<Set<number>>;
  /** Returns the ids that were added at a time or later. */
  since(time: number): Promise<number[]>;
  removeOlderThan(time: number): Promise<void>;
}

interface ErasedId {
  _id: number;
  /** Unix ms. */
  erasedAt: number;
}

const openErasedIds = (connection: Connection, name: string) => openCollection<ErasedId>(connection, name);

/** Builds the missing indexes of the erased ids in a collection. */
export async function buildErasedIdIndexes(connection: Connection, collection: string): Promise<void> {
  await openErasedIds(connection, collection).createIndex({ erasedAt: 1 });
}

/** Opens the erased ids in a collection. Units: Unix ms. */
export function erasedIds(connection: Connection, collection: string, now: () => number): ErasedIds {
  const ids = openErasedIds(connection, collection);
  const find = async (filter: mongo.Filter<ErasedId>) => {
    const found = await ids.find(filter, { projection: { _id: 1 } }).toArray();
    return found.map(({ _id }) => _id);
  };
  return {
    add: (id) =>
      storeCall(async () => {
        await retryUpsert(() => ids.updateOne({ _id: id }, { $set: { erasedAt: now() } }, { upsert: true }));
      }),
    among: async (wanted) =>
      new Set(wanted.length === 0 ? [] : await storeCall(() => find({ _id: { $in: [...wanted] } }))),
    since: (time) => storeCall(() => find({ erasedAt: { $gte: time } })),
    removeOlderThan: (time) =>
      storeCall(async () => {
        await ids.deleteMany({ erasedAt: { $lt: time } });
      }),
  };
}
