import { buildErasedIdIndexes } from '@ticketing/store/ids/erased-ids.ts';
import type { Connection } from 'mongoose';
import { buildSkillIndexes } from './skill/store.ts';
import { buildSourceIndexes } from './source/schema.ts';

/** The collection with the ids of deleted tags, which no source may have any more. */
export const deletedTagCollection = 'deletedTags';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await buildSourceIndexes(connection);
  await buildSkillIndexes(connection);
  await buildErasedIdIndexes(connection, deletedTagCollection);
}
