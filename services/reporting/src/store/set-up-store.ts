import type { Connection } from 'mongoose';
import { buildExportIndexes } from './export-model.ts';
import { openRowGenerations } from './row-generations.ts';
import { buildRowIndexes } from './row-model.ts';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  const { active, building } = await openRowGenerations(connection).store.generations();
  await buildRowIndexes(connection, active);
  if (building !== null) await buildRowIndexes(connection, building);
  await buildExportIndexes(connection);
}
