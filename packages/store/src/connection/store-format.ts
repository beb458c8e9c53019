import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { isDuplicateKey } from '../document/store-error.ts';
import { readCopiedDocuments } from './database-copy.ts';
import { openCollection } from './open-collection.ts';

/** Raised when stored documents change in such a way that this version cannot read those of older versions. */
const currentFormat = 3;

interface FormatDocument {
  _id: string;
  format: number;
  /** The id of the database, which its restored backups keep. Missing in databases that older versions set up. */
  storeId?: string;
  /** False until the indexes of a new database are built. Missing in databases that older versions set up. */
  isBuilt?: boolean;
}

const id = 'storeFormat';

const openFormats = (connection: Connection) => openCollection<FormatDocument>(connection, id);

/**
 * Marks a new database with the format of this version. Returns whether its indexes are still to be built before a service
 * may use it.
 *
 * Errors: a database that another version has set up. Until the first release there are no migrations.
 */
export async function markFormat(connection: Connection, name: string): Promise<boolean> {
  // Listed before the mark is read: another process that sets the database up at the same time writes the mark first.
  const collections = await connection.listCollections();
  const known = await openFormats(connection).findOne({ _id: id });
  if (known ? known.format !== currentFormat : collections.length > 0) {
    throw new Error(`${name} was set up by another version of this system; configure an empty one.`);
  }
  if (known) return known.isBuilt === false;
  try {
    const mark = { format: currentFormat, storeId: randomUUID(), isBuilt: false };
    await openFormats(connection).insertOne({ _id: id, ...mark });
  } catch (error) {
    // Another process has marked it in the meantime.
    if (!isDuplicateKey(error)) throw error;
  }
  return true;
}

/** Marks that the indexes of a new database are built, so that services may use it. */
export async function markBuilt(connection: Connection): Promise<void> {
  await openFormats(connection).updateOne({ _id: id }, { $set: { isBuilt: true } });
}

/** Returns the id of the database, which its restored backups keep. Undefined if an older version has set it up. */
export async function readStoreId(connection: Connection): Promise<string | undefined> {
  return (await openFormats(connection).findOne({ _id: id }))?.storeId;
}

/**
 * Returns the id of a copied database; undefined if an older version has set it up. Errors: those of
 * `readCopiedDocuments`.
 */
export async function copiedStoreId(folder: string): Promise<string | undefined> {
  for await (const { storeId } of readCopiedDocuments(folder, id)) if (typeof storeId === 'string') return storeId;
  return undefined;
}

/** Whether a database has been set up for this version: marked with its format, and its indexes built. */
export async function isSetUp(connection: Connection): Promise<boolean> {
  const mark = await openFormats(connection).findOne({ _id: id });
  return mark?.format === currentFormat && mark.isBuilt !== false;
}
