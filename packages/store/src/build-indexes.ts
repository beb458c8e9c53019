import { setTimeout } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { openDatabase } from './database.ts';
import type { StoreConfig } from './store-config.ts';

const patienceMs = 60_000;

/**
 * Builds the indexes of a service that are missing; `build` knows them. Serving goes on meanwhile.
 *
 * Errors: a database that does not answer within a minute; what `build` throws.
 */
export async function buildIndexes(
  service: string,
  store: StoreConfig,
  build: (connection: Connection) => Promise<void>,
): Promise<void> {
  let reason: unknown;
  const database = openDatabase(store.mongodbUri, store.database, (error) => {
    reason = error;
  });
  const tooLate = setTimeout(patienceMs, undefined, { ref: false }).then(() => {
    const detail = reason instanceof Error ? reason.message : 'it is silent';
    throw new Error(`The database of the ${service} service can not be reached: ${detail}`, { cause: reason });
  });
  try {
    await Promise.race([database.opened, tooLate]);
    await build(database.connection);
  } finally {
    await database.close();
  }
}
