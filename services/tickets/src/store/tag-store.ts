import { type Connection, type Model, Schema } from 'mongoose';
import { type TagState, type TagTree, tagTree } from '../domain/tag-tree.ts';
import { reachable, upserted } from './database.ts';
import type { CounterDocument } from './id-sequence.ts';
import { sharedRead } from './shared-read.ts';

type TagDocument = Omit<TagState, 'id'> & { _id: number };

/** The tags of this service. */
export interface TagStore {
  /** All tags, as of now. */
  tree(): Promise<TagTree>;
  /** Answers the id of the tag that has the name already, if there is one; else inserts. */
  insert(tag: TagState): Promise<'inserted' | 'name_taken'>;
}

const revisionId = 'tagRevision';

/**
 * Opens the tags on a connection. They are kept in memory, and read again when the revision that every write raises
 * has changed: one small read tells that nothing has.
 */
export function tagStore(connection: Connection, counters: Model<CounterDocument>): TagStore {
  const tags = tagModel(connection);
  const names = tagNameModel(connection);
  let cached: { revision: number; tree: TagTree } | undefined;

  const readTree = sharedRead(async (): Promise<TagTree> => {
    const counter = await counters.findById(revisionId).lean();
    const revision = counter?.value ?? 0;
    if (cached?.revision === revision) return cached.tree;
    const documents = await tags.find().lean<TagDocument[]>();
    const tree = tagTree(documents.map(({ _id, ...tag }) => ({ id: _id, ...tag })));
    cached = { revision, tree };
    return tree;
  });

  return {
    tree: () => reachable(readTree),
    insert: ({ id, ...tag }) =>
      reachable(async () => {
        const claim = await upserted(() =>
          names
            .findOneAndUpdate(
              { _id: nameKey(tag) },
              { $setOnInsert: { tagId: id } },
              { upsert: true, returnDocument: 'after' },
            )
            .lean(),
        );
        if (claim.tagId !== id && (await tags.exists({ _id: claim.tagId }))) return 'name_taken';
        // A claim without its tag is what a crash in between left: it is taken over.
        if (claim.tagId !== id) {
          const taken = await names.updateOne({ _id: nameKey(tag), tagId: claim.tagId }, { tagId: id });
          if (taken.matchedCount === 0) return 'name_taken';
        }
        await tags.collection.insertOne({ _id: id, ...tag } as never);
        const { value } = await upserted(() =>
          counters
            .findOneAndUpdate({ _id: revisionId }, { $inc: { value: 1 } }, { upsert: true, returnDocument: 'after' })
            .lean(),
        );
        // Nobody else has written since the tree was read: it only lacks this tag.
        if (cached?.revision === value - 1) {
          cached = { revision: value, tree: tagTree([...cached.tree.all(), { id, ...tag }]) };
        }
        return 'inserted';
      }),
  };
}

/** A name is unique under its parent, whatever its case. */
function nameKey(tag: { parent: number | null; name: string }): string {
  return `${tag.parent ?? 0}/${tag.name.normalize('NFC').toLowerCase()}`;
}

function tagModel(connection: Connection): Model<TagDocument> {
  const schema = new Schema<TagDocument>(
    {
      _id: Number,
      name: String,
      parent: Number,
      reference: Number,
      type: Number,
      visibility: Number,
      color: String,
      routingRelevant: Boolean,
      sla: Number,
      priority: Number,
      keywords: [String],
      modifiedAt: Number,
    },
    { versionKey: false, collection: 'tags' },
  );
  return connection.model<TagDocument>('Tag', schema);
}

interface TagNameDocument {
  _id: string;
  tagId: number;
}

function tagNameModel(connection: Connection): Model<TagNameDocument> {
  const schema = new Schema<TagNameDocument>(
    { _id: String, tagId: Number },
    { versionKey: false, collection: 'tagNames' },
  );
  return connection.model<TagNameDocument>('TagName', schema);
}
