import { buildErasedIdIndexes } from '@ticketing/store/ids/erased-ids.ts';
import type { Connection } from 'mongoose';
import { buildSkillIndexes } from './skill/store.ts';
import { buildSourceIndexes, deletedTagCollection } from './source/schema.ts';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await buildSourceIndexes(connection);
  await buildSkillIndexes(connection);
  await buildErasedIdIndexes(connection, deletedTagCollection);
}
