import { pipeline } from 'node:stream/promises';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { removePresent } from '@ticketing/store/document/remove-present.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { type Connection, mongo } from 'mongoose';
import { buildQuotaIndexes } from './file-quota.ts';

/**
 * The contents of files, in GridFS, with a record for each, which is written first and removed last.
 *
 * A file is unseen until its owner, or something that belongs to its owner, lists its key. A record says when to check
 * whether that is so, so that files of writers that have died are found.
 * Errors of every operation: store_unavailable.
 */
export interface FileStore {
  /** Stores a file under a new key, and has it checked at a time. */
  write(key: string, pieces: Pieces, checkAt: Date): Promise<void>;
  /** Assigns files to the owner that is about to list them. Returns false if one of them does not exist. */
  assign(keys: readonly string[], ownerId: OwnerId): Promise<boolean>;
  /** Assigns a file to a part of an owner, which has the file without listing it. Returns false if it does not exist. */
  assignToPart(key: string, ownerId: OwnerId, part: FilePart): Promise<boolean>;
  /** Finds the file of a part. */
  findOfPart(partId: number): Promise<PartFile | undefined>;
  /** Returns some files of parts that were stored before a time, the oldest first. */
  ofPartsBefore(time: Date, limit: number): Promise<string[]>;
  /** Has files checked at a time. */
  checkLater(keys: readonly string[], checkAt: Date): Promise<void>;
  /**
   * Ends the checks of files that their owner lists, except of files whose check was moved to a time after `now`.
   */
  settle(keys: readonly string[], now: Date): Promise<void>;
  /** Returns some files whose check is due. */
  toCheck(now: Date, limit: number): Promise<StoredFile[]>;
  /** Returns some files that are assigned to an owner. */
  ofOwner(ownerId: OwnerId, limit: number): Promise<string[]>;
  /** Reads bytes of a file: from `start` up to, but not including, `end`. Errors: an Error if they do not exist. */
  read(key: string, range: ByteRange): AsyncIterable<Uint8Array>;
  /** Removes files, finished or not. */
  remove(keys: readonly string[]): Promise<void>;
}

/** The content of a file, piece by piece. */
export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The id of the owner of files. In a service, all owners are of one kind, for example tickets. */
export type OwnerId = number;

/** A file, and the owner that lists it or was about to; null if it was not known yet. */
export interface StoredFile {
  key: string;
  ownerId: OwnerId | null;
  /** The part of its owner that has it without listing it. */
  part?: FilePart | undefined;
}

/** A part of an owner that has a file, for example the message whose raw mail it is. */
export interface FilePart {
  id: number;
  /** Units: bytes. */
  size: number;
  storedAt: Date;
}

/** The file of a part of an owner. */
export interface PartFile extends StoredFile {
  ownerId: OwnerId;
  part: FilePart;
}

/** Bytes of a file: from `start` up to, but not including, `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

interface FileRecord {
  _id: string;
  ownerId: OwnerId | null;
  /** Absent if the file is known to be listed. */
  checkAt?: Date;
  part?: FilePart;
}

interface ChunkDocument {
  files_id: string;
  n: number;
  data: mongo.Binary;
}

const bucketName = 'files';
/** Larger chunks need fewer writes; a read holds two of them. */
const chunkBytes = 1024 * 1024;

const recordCollection = (connection: Connection) => openCollection<FileRecord>(connection, 'fileRecords');
const chunkCollection = (connection: Connection) => openCollection<ChunkDocument>(connection, `${bucketName}.chunks`);

/** Builds the missing indexes of the files. */
export async function buildFileIndexes(connection: Connection): Promise<void> {
  const records = recordCollection(connection);
  await records.createIndex({ checkAt: 1 }, { partialFilterExpression: { checkAt: { $exists: true } } });
  await records.createIndex({ ownerId: 1 });
  const ofParts = { partialFilterExpression: { 'part.id': { $exists: true } } };
  await records.createIndex({ 'part.id': 1 }, ofParts);
  await records.createIndex({ 'part.storedAt': 1 }, ofParts);
  await chunkCollection(connection).createIndex({ files_id: 1, n: 1 }, { unique: true });
  await buildQuotaIndexes(connection);
}

/** Opens the files on a connection. */
export function fileStore(connection: Connection): FileStore {
  const records = recordCollection(connection);
  const chunks = chunkCollection(connection);
  const update = (keys: readonly string[], change: Query, condition: Query = {}) =>
    storeCall(() => records.updateMany({ _id: { $in: [...keys] }, ...condition }, change));
  const found = (query: Query, sort: Record<string, 1>, limit: number) =>
    storeCall(async () => {
      const documents = await records.find(query, { sort, limit }).toArray();
      return documents.map(({ _id, ownerId, part }): StoredFile => ({ key: _id, ownerId, part }));
    });
  let opened: mongo.GridFSBucket | undefined;
  const bucket = () => {
    const { db } = connection;
    if (!db) throw new mongo.MongoNotConnectedError('the database has not been reached');
    opened ??= new mongo.GridFSBucket(db, { bucketName, chunkSizeBytes: chunkBytes });
    return opened;
  };
  return {
    write: (key, pieces, checkAt) =>
      storeCall(async () => {
        await records.insertOne({ _id: key, ownerId: null, checkAt });
        // The name that the sender gave is only where the file is listed.
        await pipeline(pieces, bucket().openUploadStreamWithId(gridId(key), ''));
      }),
    assign: async (keys, ownerId) => (await update(keys, { $set: { ownerId } })).matchedCount === keys.length,
    assignToPart: async (key, ownerId, part) => (await update([key], { $set: { ownerId, part } })).matchedCount === 1,
    async findOfPart(partId) {
      const [file] = await found({ 'part.id': partId }, { 'part.storedAt': 1 }, 1);
      return file && file.ownerId !== null && file.part
        ? { key: file.key, ownerId: file.ownerId, part: file.part }
        : undefined;
    },
    ofPartsBefore: async (time, limit) =>
      (await found({ 'part.storedAt': { $lt: time } }, { 'part.storedAt': 1 }, limit)).map(({ key }) => key),
    checkLater: async (keys, checkAt) => void (await update(keys, { $set: { checkAt } })),
    settle: async (keys, now) => void (await update(keys, { $unset: { checkAt: 1 } }, { checkAt: { $lte: now } })),
    toCheck: (now, limit) => found({ checkAt: { $lte: now } }, { checkAt: 1 }, limit),
    ofOwner: async (ownerId, limit) => (await found({ ownerId }, { _id: 1 }, limit)).map(({ key }) => key),
    read: (key, range) => readChunks(chunks, key, range),
    remove: (keys) =>
      storeCall(async () => {
        for (const key of keys) {
          // An unfinished file has only chunks. GridFS removes them before it reports that the file is missing.
          await bucket().delete(gridId(key)).catch(ignoreMissing);
          await removePresent(
            async () => (await records.deleteOne({ _id: key })).deletedCount === 1,
            async () => (await records.findOne({ _id: key }, { projection: { _id: 1 } })) !== null,
          );
        }
      }),
  };
}

/** Returns a cursor of one chunk at a time: the stream of GridFS reads up to 16 MiB ahead. */
async function* readChunks(
  chunks: mongo.Collection<ChunkDocument>,
  key: string,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array> {
  if (end <= start) return;
  const first = Math.floor(start / chunkBytes);
  const last = Math.floor((end - 1) / chunkBytes);
  const cursor = chunks.find(
    { files_id: key, n: { $gte: first, $lte: last } },
    { projection: { n: 1, data: 1 }, sort: { n: 1 }, batchSize: 1 },
  );
  try {
    for (let n = first; n <= last; n++) {
      const chunk = await storeCall(() => cursor.next());
      if (chunk?.n !== n) throw new Error(`the file ${key} has no chunk ${n}`);
      const offset = n * chunkBytes;
      const bytes = chunk.data.value();
      const needed = bytes.subarray(Math.max(0, start - offset), end - offset);
      if (bytes.length < Math.min(chunkBytes, end - offset)) throw new Error(`the chunk ${n} of ${key} is too short`);
      yield needed;
    }
  } finally {
    await cursor.close();
  }
}

/** The ids of GridFS may have any type. */
function gridId(key: string): mongo.ObjectId {
  return key as unknown as mongo.ObjectId;
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error) || !error.message.startsWith('File not found')) throw error;
}
