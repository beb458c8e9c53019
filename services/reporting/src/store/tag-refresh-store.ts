import { randomUUID } from 'node:crypto';
import { reachable } from '@ticketing/store/database.ts';
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
  next(): Promise<TagRefresh | undefined>;
  /** Notes how far it is, unless the tag has changed again. */
  advance(refresh: TagRefresh, doneUpTo: number): Promise<void>;
  /** Removes one that is done, unless the tag has changed again. */
  remove(refresh: TagRefresh): Promise<void>;
  count(): Promise<number>;
}

interface TagRefreshDocument {
  _id: number;
  change: string;
  doneUpTo: number;
}

/** Opens them on a connection. */
export function tagRefreshStore(connection: Connection): TagRefreshStore {
  const refreshes = connection.collection('tagRefreshes') as unknown as mongo.Collection<TagRefreshDocument>;
  return {
    add: (tagIds) =>
      reachable(async () => {
        const writes = [...new Set(tagIds)].map((_id) => ({
          updateOne: { filter: { _id }, update: { $set: { change: randomUUID(), doneUpTo: 0 } }, upsert: true },
        }));
        await refreshes.bulkWrite(writes, { ordered: false });
      }),
    next: () =>
      reachable(async () => {
        const found = await refreshes.findOne({});
        return found ? { tagId: found._id, change: found.change, doneUpTo: found.doneUpTo } : undefined;
      }),
    advance: ({ tagId, change }, doneUpTo) =>
      reachable(async () => void (await refreshes.updateOne({ _id: tagId, change }, { $set: { doneUpTo } }))),
    remove: ({ tagId, change }) => reachable(async () => void (await refreshes.deleteOne({ _id: tagId, change }))),
    count: () => reachable(() => refreshes.countDocuments()),
  };
}
