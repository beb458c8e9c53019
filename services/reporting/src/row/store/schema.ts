import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import type { Connection, mongo } from 'mongoose';
import { rowColumns } from '../rules/columns.ts';
import type { Row } from '../rules/from-snapshot.ts';

/** A stored row: times are dates, ranks are numbers. An erased row has only the required fields and `erasedAt`. */
export interface RowDocument extends Record<string, unknown> {
  _id: number;
  version: number;
  /** The revision of the tag tree from which the tag names in the row were read. */
  tagRevision: number;
  tagPathIds?: number[];
  /** When the row was erased because its ticket was deleted. */
  erasedAt?: Date;
}

const storedColumns = rowColumns.filter(({ name }) => name !== 'id');

/** Opens the collection of a generation of the rows. */
export function rowCollection(connection: Connection, generation: number): mongo.Collection<RowDocument> {
  return openCollection<RowDocument>(connection, `rows${generation}`);
}

/** Builds the indexes of a generation. An order by a column without an index is sorted in memory or on disk. */
export async function buildRowIndexes(connection: Connection, generation: number): Promise<void> {
  const collection = rowCollection(connection, generation);
  for (const field of ['createdAt', 'modifiedAt', 'closedAt', 'dueBy', 'status', 'tagPathIds']) {
    await collection.createIndex({ [field]: 1, _id: 1 });
  }
}

/** Returns the document of a row. */
export function toDocument({ id, version, tagPathIds, values }: Row, tagRevision: number): RowDocument {
  const document: RowDocument = { _id: id, version, tagRevision, tagPathIds: [...tagPathIds] };
  for (const { name, type, filterKey, spellingOfRank } of storedColumns) {
    const value = values[name];
    if (value === undefined) continue;
    const isTime = type === 'dateTime' && value !== null;
    const rank = spellingOfRank && filterKey.spellings?.get(String(value));
    document[name] = isTime ? new Date(Number(value) * 1000) : (rank ?? value);
  }
  return document;
}
