import { type Connection, type Model, Schema } from 'mongoose';
import { type TagState, type TagTree, tagTree } from '../domain/tag-tree.ts';
import { isDuplicateKey, reachable, upserted } from './database.ts';
import type { CounterDocument } from './id-sequence.ts';
import { sharedRead } from './shared-read.ts';

type TagDocument = Omit<TagState, 'id'> & { _id: number };

/** The tags of this service. */
export interface TagStore {
  /** All tags, as of now. */
  tree(): Promise<TagTree>;
  /** Inserts a tag, unless its parent has one of the name. */
  insert(tag: TagState): Promise<'inserted' | 'name_taken'>;
}

const revisionId = 'tagRevision';

/**
 * Opens the tags on a connection. They are kept in memory, and read again when the revision that every write raises
 * has changed: one small read tells that nothing has.
 *
 * A tag is written first, unseen; the claim of its name is the commit. Readers pass over a tag that holds no name.
 */
export function tagStore(connection: Connection, counters: Model<CounterDocument>): TagStore {
  const tags = tagModel(connection);
  const names = tagNameModel(connection);
  let cached: { revision: number; tree: TagTree } | undefined;
  /** What was written here, by its revision, until the tree has it. */
  const added = new Map<number, TagState>();

  const readTree = sharedRead(async (): Promise<TagTree> => {
    const counter = await counters.findById(revisionId).lean();
    const revision = counter?.value ?? 0;
    if (cached?.revision === revision) return cached.tree;
    const [documents, claims] = await Promise.all([tags.find().lean<TagDocument[]>(), names.find().lean()]);
    const named = new Set(claims.map(({ tagId }) => tagId));
    const committed = documents.filter(({ _id }) => named.has(_id));
    const tree = tagTree(committed.map(({ _id, ...tag }) => ({ id: _id, ...tag })));
    cached = { revision, tree };
    catchUp();
    return cached.tree;
  });

  /** Writes a tag and claims its name; answers who holds the name. */
  async function write({ id, ...tag }: TagState): Promise<number> {
    await tags.collection.insertOne({ _id: id, ...tag } as never).catch((error: unknown) => {
      // The same request has written it in a process that died.
      if (!isDuplicateKey(error)) throw error;
    });
    try {
      await names.collection.insertOne({ _id: nameKey(tag), tagId: id } as never);
      return id;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const holder = await names.findById(nameKey(tag)).lean();
    if (holder?.tagId === id) return id;
    await tags.deleteOne({ _id: id });
    return holder?.tagId ?? write({ id, ...tag });
  }

  async function raiseRevision(): Promise<number> {
    const { value } = await upserted(() =>
      counters
        .findOneAndUpdate({ _id: revisionId }, { $inc: { value: 1 } }, { upsert: true, returnDocument: 'after' })
        .lean(),
    );
    return value;
  }

  /** Adds to the tree what this process has written, as long as nobody else has written in between. */
  function catchUp(): void {
    if (!cached) return;
    const tags = [...cached.tree.all()];
    let { revision } = cached;
    for (let tag = added.get(revision + 1); tag; tag = added.get(revision + 1)) {
      revision += 1;
      if (!cached.tree.get(tag.id)) tags.push(tag);
    }
    for (const one of added.keys()) if (one <= revision) added.delete(one);
    if (revision > cached.revision) cached = { revision, tree: tagTree(tags) };
  }

  return {
    tree: () => reachable(readTree),
    insert: (tag) =>
      reachable(async () => {
        const holder = await write(tag);
        if (holder !== tag.id) {
          // A crash may have come between the holder's claim and its revision: nobody would see the tag.
          if (!(await readTree()).get(holder)) await raiseRevision();
          return 'name_taken';
        }
        added.set(await raiseRevision(), tag);
        catchUp();
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
