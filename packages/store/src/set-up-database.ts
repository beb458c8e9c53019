import { setTimeout } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { openDatabase } from './database.ts';
import type { StoreConfig } from './store-config.ts';
import { markFormat } from './store-format.ts';

const patienceMs = 60_000;

/**
 * Sets up the database of a service: marks a new one with the format of this version, and builds the indexes that are
 * missing; `build` knows them. Serving goes on meanwhile.
 *
 * Errors: a database that does not respond within a minute, or that an older version made; what `build` throws.
 */
export async function setUpDatabase(
  service: string,
  store: StoreConfig,
  build: (connection: Connection) => Promise<void>,
): Promise<void> {
  let reason: unknown;
  const onUnreachable = (error: unknown) => {
    reason = error;
  };
  const database = openDatabase(store.mongodbUri, store.database, onUnreachable, { isSetUpHere: true });
  const tooLate = setTimeout(patienceMs, undefined, { ref: false }).then(() => {
    const detail = reason instanceof Error ? reason.message : 'it is silent';
    throw new Error(`The database of the ${service} service cannot be reached: ${detail}`, { cause: reason });
  });
  try {
    await Promise.race([database.opened, tooLate]);
    await markFormat(database.connection, `The database of the ${service} service`);
    await build(database.connection);
  } finally {
    await database.close();
  }
}
