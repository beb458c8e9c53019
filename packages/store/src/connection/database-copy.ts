import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import mongoose, { type Connection } from 'mongoose';

/** A collection in a copy. */
export interface CopiedCollection {
  name: string;
  documents: number;
  /** The hash of the documents in the order of their ids. */
  sha256: string;
}

const { BSON } = mongoose.mongo;
const documentsAtOnce = 500;
const bytesAtOnce = 8 * 1024 * 1024;
const lengthBytes = 4;

/**
 * Writes all documents of a database into files of a folder, one for each collection, in the format of `mongodump --gzip`
 * without its metadata.
 */
export async function copyDatabase(connection: Connection, folder: string): Promise<CopiedCollection[]> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return eachCollection(connection, async (name, documents) => {
    const file = createWriteStream(filePath(folder, name), { mode: 0o600, flags: 'wx' });
    await pipeline(Readable.from(documents), createGzip(), file);
  });
}

/** Reads all documents of a database, and returns the collections that a copy of it would have. */
export function describeDatabase(connection: Connection): Promise<CopiedCollection[]> {
  return eachCollection(connection, async (_name, documents) => {
    for await (const _document of documents);
  });
}

/**
 * Inserts the documents of a copy into an empty database, and returns the inserted collections.
 *
 * Errors: a database with documents; a file that is missing or damaged, or is not the one that was written.
 */
export async function restoreDatabase(
  connection: Connection,
  folder: string,
  copied: readonly CopiedCollection[],
): Promise<void> {
  for (const { name } of await connection.listCollections()) {
    const found = await connection.collection(name).findOne({});
    if (found) throw new Error(`The database ${connection.name} is not empty; restore into a new one.`);
  }
  for (const { name, documents, sha256 } of copied) {
    const inserted = await restoreCollection(connection, name, filePath(folder, name));
    if (inserted.documents !== documents || inserted.sha256 !== sha256) {
      throw new Error(`The copy of ${connection.name}.${name} is damaged: it is not what was written.`);
    }
  }
}

/** Reads the documents of a collection from a copy. Errors: a file that is missing or damaged. */
export async function* readCopiedDocuments(folder: string, name: string): AsyncGenerator<Record<string, unknown>> {
  for await (const document of documentsInFile(filePath(folder, name))) yield BSON.deserialize(document);
}

function documentsInFile(file: string): AsyncGenerator<Buffer> {
  if (!existsSync(file)) throw new Error(`The copy has no file ${file}.`);
  return documentsIn(createReadStream(file).pipe(createGunzip()));
}

async function restoreCollection(connection: Connection, name: string, file: string): Promise<CopiedCollection> {
  const counted = counter(name);
  let batch: object[] = [];
  let bytes = 0;
  const insert = async () => {
    if (batch.length > 0) await connection.collection(name).insertMany(batch as never[]);
    batch = [];
    bytes = 0;
  };
  for await (const document of documentsInFile(file)) {
    counted.add(document);
    // The types of numbers are kept as they were stored.
    batch.push(BSON.deserialize(document, { promoteValues: false, bsonRegExp: true }));
    bytes += document.length;
    if (batch.length >= documentsAtOnce || bytes >= bytesAtOnce) await insert();
  }
  await insert();
  return counted.result();
}

/** Splits a stream of BSON into its documents, each of which begins with its length. */
async function* documentsIn(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of stream) {
    rest = rest.length === 0 ? part : Buffer.concat([rest, part]);
    let start = 0;
    while (rest.length - start >= lengthBytes) {
      const length = rest.readInt32LE(start);
      if (rest.length - start < length) break;
      yield rest.subarray(start, start + length);
      start += length;
    }
    rest = rest.subarray(start);
  }
  if (rest.length > 0) throw new Error('The copy of a collection ends within a document.');
}

async function eachCollection(
  connection: Connection,
  read: (name: string, documents: AsyncGenerator<Buffer>) => Promise<void>,
): Promise<CopiedCollection[]> {
  const collections = await connection.listCollections();
  const copied: CopiedCollection[] = [];
  for (const name of collections.map((one) => one.name).toSorted()) {
    if (name.startsWith('system.')) continue;
    const counted = counter(name);
    const documents = async function* () {
      const options = { raw: true, hint: { _id: 1 }, batchSize: documentsAtOnce } as const;
      for await (const document of connection.collection(name).find({}, options).sort({ _id: 1 })) {
        const bytes = document as unknown as Buffer;
        counted.add(bytes);
        yield bytes;
      }
    };
    await read(name, documents());
    copied.push(counted.result());
  }
  return copied;
}

function counter(name: string) {
  const hash = createHash('sha256');
  let documents = 0;
  return {
    add(document: Buffer): void {
      documents += 1;
      hash.update(document);
    },
    result: (): CopiedCollection => ({ name, documents, sha256: hash.digest('hex') }),
  };
}

function filePath(folder: string, name: string): string {
  return join(folder, `${name}.bson.gz`);
}
