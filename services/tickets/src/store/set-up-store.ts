import { buildFileIndexes } from '@ticketing/files/file-store.ts';
import type { Connection } from 'mongoose';
import { analysisRequestModel } from './analysis-request-store.ts';
import { buildBulkIndexes } from './bulk-store.ts';
import { conversationModel } from './conversation-model.ts';
import { customerCopyModel } from './customer-copy-store.ts';
import { customerModel } from './customer-store.ts';
import { erpResponseModel } from './erp-response-store.ts';
import { externalMessageIdModel } from './external-message-id-store.ts';
import { buildHistoryIndexes } from './history-entry-model.ts';
import { tagModel } from './tag-model.ts';
import { ticketModel } from './ticket-model.ts';

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

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  for (const model of models) await model(connection).createIndexes();
  await buildBulkIndexes(connection);
  await buildFileIndexes(connection);
  await buildHistoryIndexes(connection);
}
