import { buildFileIndexes } from '@ticketing/files/file-store.ts';
import { runIndexBuilds } from '@ticketing/store/connection/run-index-builds.ts';
import type { Connection } from 'mongoose';
import { analysisRequestModel } from './analysis/request-store.ts';
import { buildCreationIndexes } from './bulk/creation-store.ts';
import { buildBulkIndexes } from './bulk/store.ts';
import { customerModel } from './customer/erp/embedded-store.ts';
import { erpResponseModel } from './customer/erp/response-store.ts';
import { buildHistoryIndexes } from './history/schema.ts';
import { externalMessageIdModel } from './message/external-id-store.ts';
import { conversationModel } from './message/schema.ts';
import { tagModel } from './tag/store.ts';
import { customerCopyModel } from './ticket/store/customer-copy-store.ts';
import { ticketModel } from './ticket/store/schema.ts';

const models = [
  ticketModel,
  conversationModel,
  externalMessageIdModel,
  tagModel,
  analysisRequestModel,
  customerModel,
  customerCopyModel,
  erpResponseModel,
];

/** Builds the missing indexes of this service's database. Errors: those of `runIndexBuilds`. */
export async function setUpStore(connection: Connection, isNew: boolean): Promise<void> {
  const ofModels = models.map((openModel) => {
    const model = openModel(connection);
    return { collection: model.collection.name, run: () => model.createIndexes() };
  });
  const others = [
    { collection: 'bulks', run: () => buildBulkIndexes(connection) },
    { collection: 'creations', run: () => buildCreationIndexes(connection) },
    { collection: 'files', run: () => buildFileIndexes(connection) },
    { collection: 'historyEntries', run: () => buildHistoryIndexes(connection) },
  ];
  await runIndexBuilds([...ofModels, ...others], isNew);
}
