import type { Connection } from 'mongoose';
import { buildConfigurationIndexes } from './configuration-store.ts';
import { buildEventIndexes } from './event-store.ts';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await buildConfigurationIndexes(connection);
  await buildEventIndexes(connection);
}
