import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { duplicatesIn, isDuplicateKey } from '@ticketing/store/document/store-error.ts';
import type { mongo } from 'mongoose';
import type { Row } from '../rules/from-snapshot.ts';
import { type RowDocument, toDocument } from './schema.ts';

/** Rows, and the version of the tag tree from which their tag names were read. */
export interface RowsToPut {
  rows: readonly Row[];
  tagRevision: number;
  /** The ids of those that are probably not stored yet. To insert a row costs the server a third of replacing it. */
  newIds?: ReadonlySet<number> | undefined;
}

/**
 * Writes rows into a collection, except those whose stored row was erased, has a newer version or shows newer tag names.
 * Returns the ids of the rows that must be read again, because the stored row has a newer version but older tag names, or
 * the other way round.
 */
export async function putRows(
  collection: mongo.Collection<RowDocument>,
  { rows, tagRevision, newIds }: RowsToPut,
): Promise<number[]> {
  if (rows.length === 0) return [];
  const writes = rows.map((row) => {
    const document = toDocument(row, tagRevision);
    if (newIds?.has(row.id)) return { insertOne: { document } };
    const { id: _id, version } = row;
    const isOlder = { _id, version: { $lte: version }, tagRevision: { $lte: tagRevision }, erasedAt: null };
    return { replaceOne: { filter: isOlder, replacement: document, upsert: true } };
  });
  try {
    await collection.bulkWrite(writes as never, { ordered: false });
    return [];
  } catch (error) {
    // There is such a row. If a filter does not match it, the upsert tries to insert a row too.
    const refused = duplicatesIn(error);
    if (!refused) throw error;
    return idsToReadAgain(
      collection,
      refused.flatMap((index) => rows[index] ?? []),
      tagRevision,
    );
  }
}

async function idsToReadAgain(
  collection: mongo.Collection<RowDocument>,
  refused: readonly Row[],
  tagRevision: number,
): Promise<number[]> {
  const ids = refused.map(({ id }) => id);
  const stored = await collection
    .find({ _id: { $in: ids } }, { projection: { version: 1, tagRevision: 1, erasedAt: 1 } })
    .toArray();
  const versionOfId = new Map(refused.map(({ id, version }) => [id, version]));
  return stored
    .filter((document) => {
      const isNewer = document.version >= (versionOfId.get(document._id) ?? 0) && document.tagRevision >= tagRevision;
      return document.erasedAt === undefined && !isNewer;
    })
    .map(({ _id }) => _id);
}

/** The event is delivered again. */
const tooOften = () => new DomainError('unavailable', 'concurrent_change', 'The row is being written too often.');

/** Replaces a row by the mark of an erased one, or inserts the mark if there is no row. A newer version stays. */
export async function eraseRow(
  collection: mongo.Collection<RowDocument>,
  { id, version, erasedAt }: { id: number; version: number; erasedAt: Date },
  runtime: Pick<Runtime, 'random'>,
): Promise<void> {
  const replacement = { version, tagRevision: 0, erasedAt };
  const filter = { _id: id, version: { $lte: version }, erasedAt: null };
  await retryOnConflict(runtime, tooOften, async () => {
    try {
      await collection.replaceOne(filter as never, replacement as never, { upsert: true });
      return undefined;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const stored = await collection.findOne({ _id: id }, { projection: { version: 1, erasedAt: 1 } });
    const isDone = stored?.erasedAt !== undefined || (stored?.version ?? 0) > version;
    // Otherwise another process wrote the row between the lookup and the insert of the upsert.
    return isDone ? undefined : conflict;
  });
}
