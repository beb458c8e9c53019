import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { isDuplicateKey } from '@ticketing/store/document/store-error.ts';
import type { mongo } from 'mongoose';
import { type PreparedChange, type SourceChange, type SourceDocument, toNode } from './schema.ts';

type Sources = mongo.Collection<SourceDocument>;

/**
 * Stores the fields of each change in the document of its source, because the log cannot hold texts. Readers see them
 * when the log has committed the change. Returns the changes for the log; undefined if another process has changed one
 * of the sources, or has prepared a change of it for this revision.
 */
export async function prepareChanges(
  sources: Sources,
  changes: readonly SourceChange[],
  revision: number,
  { randomUUID }: Pick<Runtime, 'randomUUID'>,
): Promise<SourceChange[] | undefined> {
  const token = randomUUID();
  const arePrepared = await Promise.all(
    changes.map(({ source, write }) => {
      const next: PreparedChange = {
        revision,
        token,
        fields: write?.fields ?? null,
        requestId: write?.requestId ?? null,
      };
      return prepareChange(sources, source, next);
    }),
  );
  if (arePrepared.includes(false)) return undefined;
  return changes.map(({ source }) => ({ source: 'deleted' in source ? source : toNode(source), token }));
}

async function prepareChange(
  sources: Sources,
  { id, version }: SourceChange['source'],
  next: PreparedChange,
): Promise<boolean> {
  if (version === 1 && (await insertPrepared(sources, id, next))) return true;
  const isFree = { $or: [{ next: { $exists: false } }, { 'next.revision': { $lt: next.revision } }] };
  const filter = { _id: id, version: version - 1, ...isFree } as mongo.Filter<SourceDocument>;
  return (await sources.updateOne(filter, { $set: { next } })).matchedCount === 1;
}

async function insertPrepared(sources: Sources, id: number, next: PreparedChange): Promise<boolean> {
  try {
    await sources.insertOne({ _id: id, version: 0, next });
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return false;
  }
}

/** Applies prepared changes that the log has committed. Applying them a second time has no effect. */
export async function applyChanges(
  sources: Sources,
  changes: readonly (SourceChange & { revision: number })[],
): Promise<void> {
  const ids = changes.map(({ source }) => source.id);
  const found = await sources.find({ _id: { $in: ids }, next: { $exists: true } }).toArray();
  const writes = changes.flatMap(({ source: { id, version }, token, revision }) => {
    const next = found.find(({ _id }) => _id === id)?.next;
    if (!next || next.token !== token) return [];
    const filter = { _id: id, 'next.token': next.token } as mongo.Filter<SourceDocument>;
    if (next.fields) {
      return {
        updateOne: { filter, update: { $set: { ...next.fields, version, revision }, $unset: { next: 1 as const } } },
      };
    }
    const tombstone = { version, deleted: true as const, requestId: next.requestId, isErasurePending: true };
    return { replaceOne: { filter, replacement: tombstone } };
  });
  if (writes.length > 0)
    await sources.bulkWrite(writes as mongo.AnyBulkWriteOperation<SourceDocument>[], { ordered: false });
}

/**
 * Removes changes that were prepared for an earlier revision and not committed: their process has died, or prepares
 * them again. Call it with a revision that has been applied.
 */
export async function removeAbandoned(sources: Sources, revision: number): Promise<void> {
  const isAbandoned = { 'next.revision': { $lte: revision } } as mongo.Filter<SourceDocument>;
  const found = await sources.find(isAbandoned, { projection: { version: 1, 'next.token': 1 } }).toArray();
  for (const { _id, version, next } of found) {
    const filter = { _id, version, 'next.token': next?.token } as mongo.Filter<SourceDocument>;
    if (version === 0) await sources.deleteOne(filter);
    else await sources.updateOne(filter, { $unset: { next: 1 } });
  }
}
