import { createHash } from 'node:crypto';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { documentReader } from '@ticketing/store/document/document-reader.ts';
import type { Connection, mongo } from 'mongoose';
import type { DeletedSource, SourceContent, SourceNode, SourceState } from './rules/state.ts';

/** An agent who has read a source. Units: `readAt` in Unix seconds. */
export interface Reader {
  id: number;
  name: string;
  readAt: number;
}

/** A stored source with its readers. */
export interface StoredSource extends SourceState {
  readers: readonly Reader[];
  /** The revision of its last change. */
  revision: number;
}

/** The estimated bytes of a reader in a response, without the name. */
const readerBytes = 60;

/** Estimates the bytes of a source and its readers in a response. */
export function estimateShownBytes({ bytes, readers }: Pick<StoredSource, 'bytes' | 'readers'>): number {
  return readers.reduce((sum, { name }) => sum + readerBytes + Buffer.byteLength(name), bytes);
}

/** The fields of a source in its document. */
export type SourceFields = Omit<SourceState, 'id' | 'version'> & {
  /** The words of title and name, and those of the text. */
  titleWords: string[];
  textWords: string[];
  /** The hash of `source`, which can be longer than the key of an index. */
  sourceHash: string;
};

/**
 * A change that is not committed yet. It is applied when the log has its token. If the log has a newer revision without
 * this token, the change is never applied.
 */
export interface PreparedChange {
  revision: number;
  token: string;
  /** Null: a deletion. */
  fields: SourceFields | null;
  /** The id of the request that deletes the source, if it may be sent again. */
  requestId: string | null;
}

/** The document of a source. Version 0 is a source that is not committed yet; it has nothing but `next`. */
export type SourceDocument = Partial<SourceFields> & {
  _id: number;
  version: number;
  revision?: number;
  readers?: Reader[];
  next?: PreparedChange;
  deleted?: true;
  requestId?: string | null;
  /** Set until the stored responses about a deleted source are erased. */
  isErasurePending?: boolean;
};

/** A change of a source in the log; until it is prepared, `write` has the values for the document. */
export interface SourceChange {
  source: SourceNode | DeletedSource;
  token?: string;
  write?: Pick<PreparedChange, 'fields' | 'requestId'>;
}

const nodeFields = ['parent', 'teams', 'status', 'type', 'excluded', 'modifiedAt', 'bytes'] as const;
const contentFields = ['source', 'name', 'title', 'text', 'tags', 'confidential', 'createdAt'] as const;

/** The fields of a document that are shown, without the fields that are only searched. */
export const shownFields = Object.fromEntries(
  ['version', 'revision', 'readers', ...nodeFields, ...contentFields].map((name) => [name, 1]),
);
/** The fields of a document that a process keeps in memory. */
export const keptFields = Object.fromEntries(['version', ...nodeFields].map((name) => [name, 1]));

/** The fields of a document that a change depends on. */
export const changedFields = Object.fromEntries(
  ['version', 'textWords', ...nodeFields, ...contentFields].map((name) => [name, 1]),
);

/** The fields of a source that a change reads. */
export type ChangeableSource = SourceState & Pick<SourceFields, 'textWords'>;

/** Reads a document with the fields `changedFields`. */
export function toChangeable({ _id, ...fields }: SourceDocument): ChangeableSource {
  return { id: _id, ...(fields as Omit<ChangeableSource, 'id'>) };
}

/** Reads a document with the fields `shownFields`. */
export const readShown = documentReader<Omit<StoredSource, 'id'> & { _id: number }>([
  ...['_id', 'version', 'revision', 'readers'],
  ...nodeFields,
  ...contentFields,
]);

/** Returns the part of a source that every process keeps in memory. */
export function toNode({
  id,
  version,
  parent,
  teams,
  status,
  type,
  excluded,
  modifiedAt,
  bytes,
}: SourceNode): SourceNode {
  return { id, version, parent, teams, status, type, excluded, modifiedAt, bytes };
}

/** Returns the stored fields of a source. */
export function toFields(
  { id: _id, version: _version, ...fields }: SourceState,
  words: { titleWords: string[]; textWords: string[] },
): SourceFields {
  return { ...fields, ...words, sourceHash: hashSource(fields.source) };
}

/** Returns the hash by which a `source` is indexed. */
export function hashSource(source: SourceContent['source']): string {
  return createHash('sha256').update(source).digest('hex');
}

/** The collection with the ids of deleted tags, which no source may have any more. */
export const deletedTagCollection = 'deletedTags';

/** Opens the collection of sources. */
export function sourceCollection(connection: Connection): mongo.Collection<SourceDocument> {
  return openCollection<SourceDocument>(connection, 'sources');
}

/** Builds the missing indexes of the sources. */
export async function buildSourceIndexes(connection: Connection): Promise<void> {
  const sources = sourceCollection(connection);
  await sources.createIndexes([
    { key: { titleWords: 1, _id: 1 } },
    { key: { textWords: 1, _id: 1 } },
    { key: { tags: 1, _id: 1 } },
    { key: { sourceHash: 1, _id: 1 } },
    { key: { 'next.revision': 1 }, partialFilterExpression: { 'next.revision': { $exists: true } } },
    { key: { isErasurePending: 1 }, partialFilterExpression: { isErasurePending: { $exists: true } } },
  ]);
}
