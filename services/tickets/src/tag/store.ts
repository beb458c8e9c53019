import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Decide } from '@ticketing/store/change-log/change-decisions.ts';
import type { LogDocument } from '@ticketing/store/change-log/change-reader.ts';
import { openChangeLog } from '@ticketing/store/change-log/change-writer.ts';
import { duplicatesIn, storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import { tagsOf, tagWrite } from './document.ts';
import { applyTagChange, type DeletedTag, type TagChange } from './rules/change.ts';
import { type TagState, type TagTree, tagTree } from './rules/tree.ts';
import { type TagDocument, tagModel } from './schema.ts';

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
  change(decide: Decide<TagChange, TagTree>): Promise<TagTree>;
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
export function tagStore(connection: Connection, onEvent: () => void, { random }: Pick<Runtime, 'random'>): TagStore {
  const tags = tagModel(connection);

  async function apply(changes: readonly TagChange[]): Promise<void> {
    try {
      await tags.collection.bulkWrite(changes.map(tagWrite) as never, { ordered: false });
    } catch (error) {
      // The insert of a tag whose id is taken was applied before.
      if (!duplicatesIn(error)) throw error;
    }
    onEvent();
  }

  const logged = openChangeLog<TagState, TagChange, TagTree>({
    logId: 'tags',
    logs: connection.collection('tagLog') as unknown as mongo.Collection<LogDocument<TagChange>>,
    idOf: ({ tag }) => tag.id,
    applyTo: applyTagChange,
    readItems: async () => tagsOf(await tags.find({}, { outbox: 0, outboxSince: 0, unsent: 0 }).lean<TagDocument[]>()),
    makeTree: (all, revision) => tagTree([...all.values()], revision),
    apply,
    tooOften: 'The tags are being changed too often.',
    random,
  });

  return {
    tree: () => storeCall(logged.tree),
    recentTree: () => storeCall(logged.recentTree),
    change: logged.change,
    isTaken: (id) =>
      storeCall(async () => {
        const tree = await logged.tree();
        return tree.get(id) !== undefined || (await tags.exists({ _id: id })) !== null;
      }),
    pendingCleanups: () =>
      storeCall(async () => {
        // A deletion that was just committed may not be in the documents yet.
        await logged.applyLastChanges();
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
