import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection } from 'mongoose';

/** A tag whose new name or new parent does not show in all rows yet. */
export interface TagRefresh {
  tagId: number;
  /** The id of the change of the tag: a new one for every change. */
  change: string;
  /** The rows up to this id are refreshed. */
  doneUpTo: number;
}

/** The tags that have changed and do not show in all rows yet. Errors of every operation: store_unavailable. */
export interface TagRefreshStore {
  add(tagIds: readonly number[]): Promise<void>;
  /** Returns how often `add` was called. A row that was read before the last call may show old names. */
  addCount(): Promise<number>;
  /** Returns a tag to refresh, or undefined if none is left. */
  next(): Promise<TagRefresh | undefined>;
  /** Records that the rows up to an id are refreshed, unless the tag has changed again. */
  recordProgress(refresh: TagRefresh, doneUpTo: number): Promise<void>;
  /** Removes a tag that shows in all rows, unless it has changed again. */
  remove(refresh: TagRefresh): Promise<void>;
  /** Returns how many tags do not show in all rows yet. */
  pendingCount(): Promise<number>;
}

interface TagRefreshDocument {
  _id: number;
  change: string;
  doneUpTo: number;
}

const countId = 'tagRefreshes';

/** Opens the tags to refresh on a connection. */
export function tagRefreshStore(connection: Connection, { randomUUID }: Pick<Runtime, 'randomUUID'>): TagRefreshStore {
  const refreshes = openCollection<TagRefreshDocument>(connection, 'tagRefreshes');
  const counts = openCollection<{ _id: string; count: number }>(connection, 'projections');
  return {
    add: (tagIds) =>
      storeCall(async () => {
        // Incremented before the rows are refreshed: a process that writes old names later sees it and reads the row again.
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
    recordProgress: ({ tagId, change }, doneUpTo) =>
      storeCall(async () => void (await refreshes.updateOne({ _id: tagId, change }, { $set: { doneUpTo } }))),
    remove: ({ tagId, change }) => storeCall(async () => void (await refreshes.deleteOne({ _id: tagId, change }))),
    addCount: () => storeCall(async () => (await counts.findOne({ _id: countId }))?.count ?? 0),
    pendingCount: () => storeCall(() => refreshes.countDocuments()),
  };
}
