import { randomUUID } from 'node:crypto';
import { storeCall } from '@ticketing/store/store-error.ts';
import type { Connection, mongo } from 'mongoose';

/** A tag whose new name, or place, has to reach the rows. */
export interface TagRefresh {
  tagId: number;
  /** Another with every change of the tag. */
  change: string;
  /** The rows up to this id show it. */
  doneUpTo: number;
}

/** The tags that have changed, until all rows show it. Errors of every operation: store_unavailable. */
export interface TagRefreshStore {
  add(tagIds: readonly number[]): Promise<void>;
  /** How often tags were added: a row that was read before the last of them may show old names. */
  count(): Promise<number>;
  next(): Promise<TagRefresh | undefined>;
  /** Notes how far it is, unless the tag has changed again. */
  advance(refresh: TagRefresh, doneUpTo: number): Promise<void>;
  /** Removes one that is done, unless the tag has changed again. */
  remove(refresh: TagRefresh): Promise<void>;
  /** How many tags do not show in all rows yet. */
  left(): Promise<number>;
}

interface TagRefreshDocument {
  _id: number;
  change: string;
  doneUpTo: number;
}

const countId = 'tagRefreshes';

/** Opens them on a connection. */
export function tagRefreshStore(connection: Connection): TagRefreshStore {
  const refreshes = connection.collection('tagRefreshes') as unknown as mongo.Collection<TagRefreshDocument>;
  const counts = connection.collection('projections') as unknown as mongo.Collection<{ _id: string; count: number }>;
  return {
    add: (tagIds) =>
      storeCall(async () => {
        // Before the rows are looked for: whoever writes one later sees the count, and reads it again.
        await counts.updateOne({ _id: countId }, { $inc: { count: 1 } }, { upsert: true });
        const writes = [...new Set(tagIds)].map((_id) => ({
          updateOne: { filter: { _id }, update: { $set: { change: randomUUID(), doneUpTo: 0 } }, upsert: true },
        }));
        await refreshes.bulkWrite(writes, { ordered: false });
      }),
    next: () =>
      storeCall(async () => {
        const found = await refreshes.findOne({});
        return found ? { tagId: found._id, change: found.change, doneUpTo: found.doneUpTo } : undefined;
      }),
    advance: ({ tagId, change }, doneUpTo) =>
      storeCall(async () => void (await refreshes.updateOne({ _id: tagId, change }, { $set: { doneUpTo } }))),
    remove: ({ tagId, change }) => storeCall(async () => void (await refreshes.deleteOne({ _id: tagId, change }))),
    count: () => storeCall(async () => (await counts.findOne({ _id: countId }))?.count ?? 0),
    left: () => storeCall(() => refreshes.countDocuments()),
  };
}
