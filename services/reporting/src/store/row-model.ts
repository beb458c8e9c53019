import type { Connection, mongo } from 'mongoose';
import type { Row } from '../domain/row.ts';
import { rowColumns } from '../domain/row-columns.ts';

/** A row as it is stored: times as dates, ranks as numbers; or what is left of one that was erased. */
export interface RowDocument extends Record<string, unknown> {
  _id: number;
  version: number;
  /** How often tags had been changed before the names in the row were read. */
  tagRevision: number;
  tagPathIds?: number[];
  /** When the row was erased with its ticket: nothing but id and version is left. */
  erasedAt?: Date;
}

const kept = rowColumns.filter(({ name }) => name !== 'id');

/** The collection of a generation of the rows. */
export function rowCollection(connection: Connection, generation: number): mongo.Collection<RowDocument> {
  return connection.collection(`rows${generation}`) as unknown as mongo.Collection<RowDocument>;
}

/** Builds the indexes of a generation. Orders by other columns are sorted when they are asked for. */
export async function buildRowIndexes(connection: Connection, generation: number): Promise<void> {
  const collection = rowCollection(connection, generation);
  for (const field of ['createdAt', 'modifiedAt', 'closedAt', 'dueBy', 'status', 'tagPathIds']) {
    await collection.createIndex({ [field]: 1, _id: 1 });
  }
}

/** The document of a row. */
export function documentOf({ id, version, tagPathIds, values }: Row, tagRevision: number): RowDocument {
  const document: RowDocument = { _id: id, version, tagRevision, tagPathIds: [...tagPathIds] };
  for (const { name, type, filterKey, spellingOfRank } of kept) {
    const value = values[name];
    if (value === undefined) continue;
    const isTime = type === 'dateTime' && value !== null;
    const rank = spellingOfRank && filterKey.spellings?.get(String(value));
    document[name] = isTime ? new Date(Number(value) * 1000) : (rank ?? value);
  }
  return document;
}
