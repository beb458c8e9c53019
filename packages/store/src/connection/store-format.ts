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
}

const id = 'storeFormat';

const openFormats = (connection: Connection) => openCollection<FormatDocument>(connection, id);

/**
 * Marks a new database with the format of this version.
 *
 * Errors: a database that another version has set up. Until the first release there are no migrations.
 */
export async function markFormat(connection: Connection, name: string): Promise<void> {
  // Listed before the mark is read: another process that sets the database up at the same time writes the mark first.
  const collections = await connection.listCollections();
  const known = await openFormats(connection).findOne({ _id: id });
  if (known ? known.format !== currentFormat : collections.length > 0) {
    throw new Error(`${name} was set up by another version of this system; configure an empty one.`);
  }
  if (known) return;
  try {
    await openFormats(connection).insertOne({ _id: id, format: currentFormat, storeId: randomUUID() });
  } catch (error) {
    // Another process has marked it in the meantime.
    if (!isDuplicateKey(error)) throw error;
  }
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

/** Whether a database has been set up for this version. */
export async function isSetUp(connection: Connection): Promise<boolean> {
  return (await openFormats(connection).findOne({ _id: id }))?.format === currentFormat;
}
