import type { Environment } from '@ticketing/service-kit/config-reader.ts';
import { readTicketsConfig } from './config.ts';
import { analysisRequestModel } from './store/analysis-request-store.ts';
import { bulkModel } from './store/bulk-store.ts';
import { openDatabase } from './store/database.ts';
import { ticketModel } from './store/ticket-model.ts';

/** Builds the indexes of the tickets service that are missing. Serving goes on meanwhile. */
export async function applyIndexes(environment?: Environment): Promise<void> {
  const { store } = readTicketsConfig(environment);
  const database = openDatabase(store.mongodbUri, store.database);
  try {
    await database.opened;
    for (const model of [ticketModel, bulkModel, analysisRequestModel])
      await model(database.connection).createIndexes();
  } finally {
    await database.close();
  }
}

if (import.meta.main) await applyIndexes();
