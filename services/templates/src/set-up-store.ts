import { buildFileIndexes } from '@ticketing/files/file-store.ts';
import { runIndexBuilds } from '@ticketing/store/connection/run-index-builds.ts';
import { buildErasedIdIndexes } from '@ticketing/store/ids/erased-ids.ts';
import type { Connection } from 'mongoose';
import { emailTemplateModel } from './email-template/schema.ts';
import { buildDeletionIndexes } from './template/deletion-store.ts';
import { erasedCollections, templateModel } from './template/schema.ts';

/** Builds the missing indexes of this service's database. Errors: those of `runIndexBuilds`. */
export async function setUpStore(connection: Connection, isNew: boolean): Promise<void> {
  const builds = [
    ...[templateModel(connection), emailTemplateModel(connection)].map((model) => ({
      collection: model.collection.name,
      run: () => model.createIndexes(),
    })),
    { collection: 'files', run: () => buildFileIndexes(connection) },
    { collection: 'templateDeletions', run: () => buildDeletionIndexes(connection) },
    ...Object.values(erasedCollections).map((collection) => ({
      collection,
      run: () => buildErasedIdIndexes(connection, collection),
    })),
  ];
  await runIndexBuilds(builds, isNew);
}
