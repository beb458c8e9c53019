import { buildFileIndexes } from '@ticketing/files/file-store.ts';
import { buildErasedIdIndexes } from '@ticketing/store/ids/erased-ids.ts';
import type { Connection } from 'mongoose';
import { emailTemplateModel } from './email-template/schema.ts';
import { buildDeletionIndexes } from './template/deletion-store.ts';
import { erasedCollections, templateModel } from './template/schema.ts';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await Promise.all([
    templateModel(connection).createIndexes(),
    emailTemplateModel(connection).createIndexes(),
    buildFileIndexes(connection),
    buildDeletionIndexes(connection),
    ...Object.values(erasedCollections).map((collection) => buildErasedIdIndexes(connection, collection)),
  ]);
}
