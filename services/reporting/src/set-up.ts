import { buildDeadLetterIndex } from '@ticketing/events/dead-letters/dead-letters.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { buildIndexes } from '@ticketing/store/build-indexes.ts';
import type { Database } from '@ticketing/store/database.ts';
import { readReportingConfig } from './config.ts';
import { buildExportIndexes } from './store/export-store.ts';
import { buildRowIndexes } from './store/row-model.ts';
import { rowStore } from './store/row-store.ts';

/**
 * Makes what the reporting service needs outside of itself, where it is missing: the indexes of its store. Serving goes
 * on meanwhile.
 *
 * Errors: a ConfigError; a database that does not answer within a minute.
 */
export async function setUp(environment?: Environment): Promise<void> {
  const { store } = readReportingConfig(environment);
  await buildIndexes('reporting', store, setUpStore);
}

/** Builds the indexes of a store that are missing. */
export async function setUpStore(connection: Connection): Promise<void> {
  const { active, building } = await rowStore(connection).generations();
  await buildRowIndexes(connection, active);
  if (building !== null) await buildRowIndexes(connection, building);
  await buildExportIndexes(connection);
  await buildDeadLetterIndex(connection);
}

type Connection = Database['connection'];

if (import.meta.main) await setUp();
