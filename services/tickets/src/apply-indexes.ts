import { setTimeout } from 'node:timers/promises';
import type { Environment } from '@ticketing/service-kit/config-reader.ts';
import { readTicketsConfig } from './config.ts';
import { analysisRequestModel } from './store/analysis-request-store.ts';
import { bulkModel } from './store/bulk-store.ts';
import { openDatabase } from './store/database.ts';
import { idempotencyModel } from './store/idempotency-store.ts';
import { tagModel } from './store/tag-model.ts';
import { ticketModel } from './store/ticket-model.ts';

const patienceMs = 60_000;

/**
 * Builds the indexes of the tickets service that are missing. Serving goes on meanwhile.
 *
 * Errors: a ConfigError; a database that does not answer within a minute.
 */
export async function applyIndexes(environment?: Environment): Promise<void> {
  const { store } = readTicketsConfig(environment);
  let reason: unknown;
  const database = openDatabase(store.mongodbUri, store.database, (error) => {
    reason = error;
  });
  const tooLate = setTimeout(patienceMs, undefined, { ref: false }).then(() => {
    const detail = reason instanceof Error ? reason.message : 'it is silent';
    throw new Error(`The database of the tickets service can not be reached: ${detail}`, { cause: reason });
  });
  try {
    await Promise.race([database.opened, tooLate]);
    for (const model of [ticketModel, tagModel, bulkModel, analysisRequestModel, idempotencyModel])
      await model(database.connection).createIndexes();
  } finally {
    await database.close();
  }
}

if (import.meta.main) await applyIndexes();
