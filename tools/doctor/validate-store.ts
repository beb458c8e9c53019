import { join } from 'node:path';
import { startEmbeddedMongo } from '@ticketing/embedded-mongo/embedded-mongo.ts';
import { isUnreachable } from '@ticketing/store/document/store-error.ts';
import { mongo } from 'mongoose';

type Print = (line: string) => void;

/** A store whose collections are validated. */
interface ValidatedStore {
  uri: string;
  stop(): Promise<void>;
}

/** A collection of a store. */
interface StoredCollection {
  database: string;
  name: string;
  /** Its files, that of its documents first; empty if they are not known. */
  files: string[];
}

/** The engine's report about the files of a collection. */
interface CatalogEntry {
  ident: string;
  idxIdent?: Record<string, string>;
}

const remedy =
  'What to do: restore a backup (docs/operations/backup.md). Keep the folder: whatever is read before the damage is intact.';

/**
 * Reads every file of a stopped store, and names those that are damaged with what to do. The engine ends itself when it
 * reads a damaged block, so that the embedded store is started once more for each damaged collection.
 *
 * Returns how many collections are damaged. Errors: the store is in use, or cannot be opened.
 */
export async function validateStore(dataDir: string, givenUri: string | undefined, print: Print): Promise<number> {
  const folder = join(dataDir, 'mongodb');
  const open = async (): Promise<ValidatedStore> =>
    givenUri ? { uri: givenUri, stop: async () => undefined } : startEmbeddedMongo({ dataDir: folder });
  const collections = await withStore(open, (client) => listCollections(client, givenUri === undefined));
  let damaged = 0;
  while (collections.length > 0) {
    const found = await withStore(open, (client) => firstDamaged(client, collections, givenUri === undefined));
    if (!found) continue;
    damaged += 1;
    const isOfData = await withStore(open, (client) => cannotRead(client, found));
    const { database, name } = found;
    const files = (isOfData ? found.files.slice(0, 1) : found.files.slice(1)).join(' or ');
    print(`\nA file of the collection ${name} of ${database} is damaged${files && `: ${files} in ${folder}`}`);
    print(remedy);
  }
  print(damaged === 0 ? 'no file of the store is damaged' : `\n${damaged} collections have damaged files`);
  return damaged;
}

async function withStore<Result>(
  open: () => Promise<ValidatedStore>,
  work: (client: mongo.MongoClient) => Promise<Result>,
): Promise<Result> {
  const store = await open();
  const client = new mongo.MongoClient(store.uri, { serverSelectionTimeoutMS: 2_000 });
  try {
    return await work(client);
  } finally {
    await client.close().catch(() => undefined);
    await store.stop();
  }
}

/** The databases that a server keeps for itself. */
const serverDatabases = ['admin', 'config', 'local'];

/** Lists the collections of all services; with the names of their files, which a server does not always tell. */
async function listCollections(client: mongo.MongoClient, hasFiles: boolean): Promise<StoredCollection[]> {
  const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
  const ours = databases.filter(({ name }) => !serverDatabases.includes(name));
  const all = ours.map(async ({ name: database }) => {
    const found = await client.db(database).listCollections({ type: 'collection' }).toArray();
    return Promise.all(
      found.map(async ({ name }) => ({
        database,
        name,
        files: hasFiles ? await readFileNames(client, database, name) : [],
      })),
    );
  });
  return (await Promise.all(all)).flat();
}

/**
 * Validates collections, and removes them from the list, until one of them is damaged. `endsItself` says whether an engine
 * that is lost has read a damaged block; a server may be unreachable for any reason.
 *
 * Errors: those of a server that is unreachable.
 */
async function firstDamaged(
  client: mongo.MongoClient,
  collections: StoredCollection[],
  endsItself: boolean,
): Promise<StoredCollection | undefined> {
  for (let collection = collections.shift(); collection; collection = collections.shift()) {
    const { database, name } = collection;
    try {
      const { valid } = await client.db(database).command({ validate: name, full: true });
      // The engine may end a moment after its response.
      await client.db(database).command({ ping: 1 });
      if (valid !== true) return collection;
    } catch (error) {
      if (!isUnreachable(error) || !endsItself) throw error;
      return collection;
    }
  }
  return undefined;
}

async function readFileNames(client: mongo.MongoClient, database: string, name: string): Promise<string[]> {
  const entries = client
    .db(database)
    .collection(name)
    .aggregate<CatalogEntry>([{ $listCatalog: {} }]);
  const [entry] = await entries.toArray();
  return entry ? [entry.ident, ...Object.values(entry.idxIdent ?? {})].map((ident) => `${ident}.wt`) : [];
}

/** Whether the documents themselves cannot be read, without any index. */
async function cannotRead(client: mongo.MongoClient, { database, name }: StoredCollection): Promise<boolean> {
  const documents = client
    .db(database)
    .collection(name)
    .find({}, { raw: true, hint: { $natural: 1 } });
  try {
    while (await documents.next());
    return false;
  } catch {
    return true;
  }
}
