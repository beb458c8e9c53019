import { buildFileIndexes } from '@ticketing/files/file-store.ts';
import { buildErasedIdIndexes } from '@ticketing/store/erased-ids.ts';
import type { Connection } from 'mongoose';
import { buildDeletionIndexes } from './deletion-store.ts';
import { emailTemplateModel } from './email-template-model.ts';
import { templateModel } from './template-model.ts';

/** The collections with the ids of tickets and tags that were deleted, and that no template may name any more. */
export const erasedCollections = { tickets: 'erasedTickets', tags: 'deletedTags' };

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await templateModel(connection).createIndexes();
  await emailTemplateModel(connection).createIndexes();
  await buildFileIndexes(connection);
  await buildDeletionIndexes(connection);
  for (const collection of Object.values(erasedCollections)) await buildErasedIdIndexes(connection, collection);
}
