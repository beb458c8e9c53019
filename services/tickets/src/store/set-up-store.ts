import type { Connection } from 'mongoose';
import { analysisRequestModel } from './analysis-request-store.ts';
import { buildBulkIndexes } from './bulk-store.ts';
import { customerModel } from './customer-store.ts';
import { erpAnswerModel } from './erp-answer-store.ts';
import { tagModel } from './tag-model.ts';
import { ticketModel } from './ticket-model.ts';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  for (const model of [ticketModel, tagModel, analysisRequestModel, customerModel, erpAnswerModel])
    await model(connection).createIndexes();
  await buildBulkIndexes(connection);
}
