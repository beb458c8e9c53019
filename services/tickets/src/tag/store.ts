import { firstInOutbox, type OutboxFields, outboxIndex, outboxPush } from '@ticketing/events/outbox/outbox.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Decide } from '@ticketing/store/change-log/change-decisions.ts';
import type { LogDocument } from '@ticketing/store/change-log/change-reader.ts';
import { openChangeLog } from '@ticketing/store/change-log/change-writer.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { duplicatesIn, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Connection, type Model, Schema } from 'mongoose';
import {
  applyTagChange,
  type DeletedTag,
  type TagChange,
  type TagEvent,
  type TagState,
  type TagTree,
  tagTree,
} from './rules.ts';

export const tagCollection = 'tags';

/** The document of a tag. The end of its cleanup removes `cleanUpUntil` and the profile that deleted the tag. */
type TagDocument = (
  | Stored<TagState>
  | (Pick<Stored<DeletedTag>, '_id' | 'version' | 'deleted'> & Partial<DeletedTag>)
) &
  OutboxFields<TagEvent>;

type Stored<Tag extends { id: number }> = Omit<Tag, 'id'> & { _id: number };

/** The types of the fields that a deletion erases. */
const erasable = {
  name: String,
  parent: Number,
  reference: Number,
  type: Number,
  visibility: Number,
  color: String,
  routingRelevant: Boolean,
  sla: Number,
  firstResponseSla: Number,
  priority: Number,
  keywords: [String],
  modifiedAt: Number,
} satisfies Record<keyof Omit<TagState, 'id' | 'version'>, unknown>;

/** The names of the fields that a deletion erases. */
const erasableFields = Object.keys(erasable);

export function tagModel(connection: Connection): Model<TagDocument> {
  const schema = new Schema(
    {
      _id: Number,
      version: Number,
      ...erasable,
      deleted: Boolean,
      cleanUpUntil: Number,
      deletedBy: Schema.Types.Mixed,
      outbox: [Schema.Types.Mixed],
      outboxSince: Date,
      unsent: Schema.Types.Mixed,
    },
    { versionKey: false, strict: 'throw', minimize: false, collection: tagCollection },
  );
  schema.index({ cleanUpUntil: 1 }, { partialFilterExpression: { cleanUpUntil: { $exists: true } } });
  schema.index(outboxIndex.index, outboxIndex.options);
  return connection.model<TagDocument>('Tag', schema as unknown as Schema<TagDocument>);
}

/** The tags of this service. Each change stores its event too. Errors of every operation: store_unavailable. */
export interface TagStore {
  /** All tags as of now. */
  tree(): Promise<TagTree>;
  /** All tags, at most one second old. Enough to write a tag to a ticket: the cleanup removes a deleted one. */
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
    logs: openCollection<LogDocument<TagChange>>(connection, 'tagLog'),
    readId: ({ tag }) => tag.id,
    applyTo: applyTagChange,
    readItems: async () => toTags(await tags.find({}, { outbox: 0, outboxSince: 0, unsent: 0 }).lean<TagDocument[]>()),
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

/** The write that applies a change to the document of its tag. Applying it a second time has no effect. */
function tagWrite({ tag, event }: TagChange) {
  const { id, ...fields } = tag;
  if (tag.version === 1) return { insertOne: { document: { _id: id, ...fields, ...firstInOutbox(event) } } };
  const erased = Object.fromEntries(erasableFields.map((name) => [name, 1]));
  return {
    updateOne: {
      filter: { _id: id, version: tag.version - 1 },
      update: { $set: fields, ...outboxPush(event), ...('deleted' in tag ? { $unset: erased } : {}) },
    },
  };
}

/** The tags of documents, without the deleted ones, by id. */
function toTags(documents: readonly TagDocument[]): Map<number, TagState> {
  const tags = new Map<number, TagState>();
  for (const { _id, outbox: _, ...tag } of documents) if (!('deleted' in tag)) tags.set(_id, { id: _id, ...tag });
  return tags;
}
