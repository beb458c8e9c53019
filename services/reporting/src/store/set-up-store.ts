import type { Connection } from 'mongoose';
import { buildExportIndexes } from './export-store.ts';
import { buildRowIndexes } from './row-model.ts';
import { rowStore } from './row-store.ts';

/** Builds the indexes of this service's database that are missing. */
export async function setUpStore(connection: Connection): Promise<void> {
  const { active, building } = await rowStore(connection).generations();
  await buildRowIndexes(connection, active);
  if (building !== null) await buildRowIndexes(connection, building);
  await buildExportIndexes(connection);
}
