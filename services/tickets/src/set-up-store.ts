import { buildFileIndexes } from '@ticketing/files/file-store.ts';
import type { Connection } from 'mongoose';
import { analysisRequestModel } from './analysis/request-store.ts';
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

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await Promise.all([
    ...models.map((model) => model(connection).createIndexes()),
    buildBulkIndexes(connection),
    buildFileIndexes(connection),
    buildHistoryIndexes(connection),
  ]);
}
