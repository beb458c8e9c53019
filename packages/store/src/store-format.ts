import { type Connection, mongo } from 'mongoose';

/** Raised whenever stored documents change so that an older version's cannot be read any more. */
const currentFormat = 2;

interface FormatDocument {
  _id: string;
  format: number;
}

const id = 'storeFormat';

const collectionOf = (connection: Connection) =>
  connection.collection(id) as unknown as mongo.Collection<FormatDocument>;

/**
 * Marks a new database with the format of this version.
 *
 * Errors: a database that another version has made. Until the first release nothing is migrated.
 */
export async function markFormat(connection: Connection, name: string): Promise<void> {
  // Before the mark is looked for: who sets up the same database at the same time makes the mark first.
  const collections = await connection.listCollections();
  const known = await collectionOf(connection).findOne({ _id: id });
  if (known ? known.format !== currentFormat : collections.length > 0) {
    throw new Error(`${name} was made by another version of this system; name an empty one.`);
  }
  if (known) return;
  await collectionOf(connection).insertOne({ _id: id, format: currentFormat }).catch(passOverDuplicate);
}

function passOverDuplicate(error: unknown): void {
  if (!(error instanceof mongo.MongoServerError) || error.code !== 11_000) throw error;
}

/** Whether a database has been set up for this version. */
export async function isSetUp(connection: Connection): Promise<boolean> {
  return (await collectionOf(connection).findOne({ _id: id }))?.format === currentFormat;
}
