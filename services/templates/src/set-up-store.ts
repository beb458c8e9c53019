import { buildFileIndexes } from '@ticketing/files/file-store.ts';
import { buildErasedIdIndexes } from '@ticketing/store/ids/erased-ids.ts';
import type { Connection } from 'mongoose';
import { emailTemplateModel } from './email-template/schema.ts';
import { buildDeletionIndexes } from './template/deletion-store.ts';
import { erasedCollections, templateModel } from './template/schema.ts';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await templateModel(connection).createIndexes();
  await emailTemplateModel(connection).createIndexes();
  await buildFileIndexes(connection);
  await buildDeletionIndexes(connection);
  for (const collection of Object.values(erasedCollections)) await buildErasedIdIndexes(connection, collection);
}
