import { setTimeout } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { openDatabase } from './database.ts';
import type { StoreConfig } from './store-config.ts';
import { markBuilt, markFormat } from './store-format.ts';

const timeoutMs = 60_000;

/**
 * Sets up the database of a service: marks a new database with the format of this version, and calls `buildIndexes`. No
 * service uses a new database before its indexes are built; the service may be using another one meanwhile.
 *
 * Errors: a database that does not respond within a minute, or that another version has set up; errors of `buildIndexes`.
 */
export async function setUpDatabase(
  service: string,
  store: StoreConfig,
  buildIndexes: (connection: Connection, isNew: boolean) => Promise<void>,
): Promise<void> {
  let firstFailure: unknown;
  const onUnreachable = (error: unknown) => {
    firstFailure = error;
  };
  const database = openDatabase(store.mongodbUri, store.database, onUnreachable, { isSetUpHere: true, quietMs: 0 });
  const timeout = setTimeout(timeoutMs, undefined, { ref: false }).then(() => {
    const detail = firstFailure instanceof Error ? firstFailure.message : 'it does not respond';
    throw new Error(`The database of the ${service} service cannot be reached: ${detail}`, { cause: firstFailure });
  });
  try {
    await Promise.race([database.opened, timeout]);
    const isNew = await markFormat(database.connection, `The database of the ${service} service`);
    await buildIndexes(database.connection, isNew);
    if (isNew) await markBuilt(database.connection);
  } finally {
    await database.close();
  }
}
