import { freeSlug, slugStem } from '@ticketing/text/slug.ts';
import type { mongo } from 'mongoose';
import { conflict } from '../document/retry-on-conflict.ts';
import { isDuplicateKey } from '../document/store-error.ts';
import type { UniqueWrites } from '../document/unique-writes.ts';

/** A document whose slug is unique, in its collection or among those with the same owner; a unique index says which. */
export interface SlugDocument {
  _id: number;
  slug: string;
}

/** Inserts documents with slugs. A document whose `_id` exists already stays as it is, and counts as inserted. */
export interface SlugInserts<Document extends SlugDocument> {
  /** Inserts a document with the slug that it has. Returns false if another one has it. */
  insert(document: Document): Promise<boolean>;
  /** Inserts a document, with a number at the end of its slug if another one has it. */
  insertNumbered(document: Document): Promise<void>;
}

/**
 * Opens the inserts of a collection. `siblingsOf` returns the filter of the documents that may not have the slug of a
 * document.
 */
export function slugInserts<Document extends SlugDocument>(
  collection: mongo.Collection<Document>,
  siblingsOf: (document: Document) => mongo.Filter<Document>,
  write: UniqueWrites,
): SlugInserts<Document> {
  const exists = async ({ _id }: Document) =>
    (await collection.countDocuments({ _id } as mongo.Filter<Document>, { limit: 1 })) > 0;

  /** Returns false if the `_id` or the slug of the document exists. */
  async function tryInsert(document: Document): Promise<boolean> {
    try {
      await collection.insertOne(document as mongo.OptionalUnlessRequiredId<Document>);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async function slugsBeside(document: Document): Promise<Set<string>> {
    const stem = slugStem(document.slug);
    // A tilde sorts after everything that a slug may contain.
    const filter = { ...siblingsOf(document), slug: { $gte: stem, $lt: `${stem}~` } } as mongo.Filter<Document>;
    const found = await collection.find(filter, { projection: { slug: 1 } }).toArray();
    return new Set(found.map(({ slug }) => slug));
  }

  async function attemptNumbered(document: Document): Promise<undefined | typeof conflict> {
    if (await exists(document)) return undefined;
    const taken = await slugsBeside(document);
    const slug = freeSlug(document.slug, (one) => taken.has(one));
    return (await tryInsert({ ...document, slug })) ? undefined : conflict;
  }

  return {
    insert: (document) => write(async () => (await tryInsert(document)) || exists(document)),
    // The slugs are read in their turn too, so that requests of the same moment do not all choose the same one.
    insertNumbered: (document) => write(() => attemptNumbered(document)),
  };
}
