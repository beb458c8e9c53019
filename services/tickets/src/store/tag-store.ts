import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { storeCall } from '@ticketing/store/store-error.ts';
import type { Connection } from 'mongoose';
import type { DeletedTag } from '../domain/tag-change.ts';
import type { TagTree } from '../domain/tag-tree.ts';
import type { DecideTag } from './tag-decisions.ts';
import { tagLogModel } from './tag-log.ts';
import { tagModel } from './tag-model.ts';
import { tagReader } from './tag-reader.ts';
import { tagWriter } from './tag-writer.ts';

/** The tags of this service. Each change stores its event too. Errors of every operation: store_unavailable. */
export interface TagStore {
  /** All tags as of now. */
  tree(): Promise<TagTree>;
  /**
   * All tags, at most one second old. Enough to write a tag to a ticket: the cleanup removes a deleted one.
   */
  recentTree(): Promise<TagTree>;
  /**
   * Changes a tag as `decide` says for the current tree. If another process changes a tag first, `decide` is called
   * again. Returns the tree after the change.
   *
   * Errors: what `decide` throws; concurrent_change if too many other changes come first.
   */
  change(decide: DecideTag): Promise<TagTree>;
  /** Whether there is or was a tag with an id. */
  isTaken(id: number): Promise<boolean>;
  /** The deleted tags that tickets may still have. */
  pendingCleanups(): Promise<TagCleanup[]>;
  /** Records that no ticket has a deleted tag any more. */
  finishCleanup(id: number): Promise<void>;
}

/** A deleted tag that tickets may still have. */
export type TagCleanup = Pick<DeletedTag, 'id' | 'cleanUpUntil' | 'deletedBy'>;

/** Opens the tags on a connection. `onEvent` is called after each write that has stored events. */
export function tagStore(connection: Connection, onEvent: () => void, runtime: Pick<Runtime, 'random'>): TagStore {
  const tags = tagModel(connection);
  const logs = tagLogModel(connection);
  const reader = tagReader(tags, logs);
  const writer = tagWriter(tags, logs, reader, onEvent, runtime);
  return {
    tree: async () => (await storeCall(reader.read)).tree,
    recentTree: async () => (await storeCall(reader.readRecent)).tree,
    change: (decide) => writer.change(decide),
    isTaken: (id) =>
      storeCall(async () => {
        const { tree } = await reader.read();
        return tree.get(id) !== undefined || (await tags.exists({ _id: id })) !== null;
      }),
    pendingCleanups: () =>
      storeCall(async () => {
        // A deletion that was just committed may not be in the documents yet.
        await writer.applyLastChanges();
        const found = await tags
          .find({ cleanUpUntil: { $exists: true } }, { cleanUpUntil: 1, deletedBy: 1 })
          .lean<(TagCleanup & { _id: number })[]>();
        return found.map(({ _id, cleanUpUntil, deletedBy }) => ({ id: _id, cleanUpUntil, deletedBy }));
      }),
    async finishCleanup(id) {
      await storeCall(() => tags.updateOne({ _id: id }, { $unset: { cleanUpUntil: 1, deletedBy: 1 } }));
    },
  };
}
