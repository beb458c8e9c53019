import type { mongo } from 'mongoose';
import { isDuplicateKey } from './store-error.ts';

/**
 * Applies an update to the document with this id, which is inserted first if it does not exist, and returns the
 * document after the update. Servers that only speak MongoDB's protocol return a wrong document from `findOneAndUpdate`
 * with `upsert` where several callers make the document at once, so the insert is a separate call.
 */
export async function updateOrInsert<Document extends { _id: string }>(
  collection: mongo.Collection<Document>,
  id: Document['_id'],
  update: mongo.UpdateFilter<Document>,
): Promise<mongo.WithId<Document>> {
  const filter = { _id: id } as mongo.Filter<Document>;
  const find = () => collection.findOneAndUpdate(filter, update, { returnDocument: 'after' });
  const existing = await find();
  if (existing) return existing;
  try {
    await collection.insertOne(filter as mongo.OptionalUnlessRequiredId<Document>);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const updated = await find();
  if (!updated) throw new Error(`the document ${id} was removed while it was updated`);
  return updated;
}
