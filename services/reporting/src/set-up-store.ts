import type { Connection } from 'mongoose';
import { buildExportIndexes } from './export/schema.ts';
import { openRowGenerations } from './row/store/generations.ts';
import { buildRowIndexes } from './row/store/schema.ts';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  const { active, building } = await openRowGenerations(connection).store.generations();
  await buildRowIndexes(connection, active);
  if (building !== null) await buildRowIndexes(connection, building);
  await buildExportIndexes(connection);
}
