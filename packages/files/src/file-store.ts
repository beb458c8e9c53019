import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { removePresent } from '@ticketing/store/document/remove-present.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { type Connection, mongo } from 'mongoose';
import { buildQuotaIndexes } from './file-quota.ts';

/**
 * The contents of files, in the chunks of GridFS, with a record for each, which is written first and removed last.
 *
 * A file is unseen until its owner, or something that belongs to its owner, lists its key. A record says when to check
 * whether that is so, so that files of writers that have died are found.
 * Errors of every operation: store_unavailable.
 */
export interface FileStore {
  /** Stores a file under a new key, and has it checked at a time. */
  write(key: string, content: FileContent, checkAt: Date): Promise<void>;
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
export interface FileContent {
  /** Units: bytes. */
  size: number;
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

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
/** The entries that GridFS writes beside the chunks. Versions before this one wrote them too; nobody reads them. */
const entryCollection = (connection: Connection) => openCollection<{ _id: string }>(connection, `${bucketName}.files`);
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
  const entries = entryCollection(connection);
  const chunks = chunkCollection(connection);
  const update = (keys: readonly string[], change: Query, condition: Query = {}) =>
    storeCall(() => records.updateMany({ _id: { $in: [...keys] }, ...condition }, change));
  const found = (query: Query, sort: Record<string, 1>, limit: number) =>
    storeCall(async () => {
      const documents = await records.find(query, { sort, limit }).toArray();
      return documents.map(({ _id, ownerId, part }): StoredFile => ({ key: _id, ownerId, part }));
    });
  return {
    async write(key, content, checkAt) {
      await storeCall(() => records.insertOne({ _id: key, ownerId: null, checkAt }));
      let n = 0;
      for await (const data of toChunks(content)) {
        const chunk = { files_id: key, n: n++, data: new mongo.Binary(data) };
        await storeCall(() => chunks.insertOne(chunk));
      }
    },
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
        await entries.deleteMany({ _id: { $in: [...keys] } });
        await chunks.deleteMany({ files_id: { $in: [...keys] } });
        for (const key of keys) {
          await removePresent(
            async () => (await records.deleteOne({ _id: key })).deletedCount === 1,
            async () => (await records.findOne({ _id: key }, { projection: { _id: 1 } })) !== null,
          );
        }
      }),
  };
}

/** Yields a content in chunks of one size, of which the last may be shorter. Errors: an Error if it has another size. */
async function* toChunks({ size, pieces }: FileContent): AsyncGenerator<Uint8Array> {
  let left = size;
  let chunk = new Uint8Array(0);
  let filled = 0;
  for await (const piece of pieces) {
    if (piece.length > left) throw new Error(`a file of ${size} bytes has more`);
    for (let at = 0; at < piece.length; ) {
      if (filled === 0) chunk = new Uint8Array(Math.min(left, chunkBytes));
      const taken = piece.subarray(at, at + chunk.length - filled);
      chunk.set(taken, filled);
      at += taken.length;
      filled += taken.length;
      left -= taken.length;
      if (filled < chunk.length) continue;
      yield chunk;
      filled = 0;
    }
  }
  if (left > 0) throw new Error(`a file of ${size} bytes has ${size - left}`);
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
