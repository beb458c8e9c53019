import {
  type HistoryEntryType,
  HistoryEntryTypeSchema,
  type HistorySubChannel,
  HistorySubChannelSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import type { Connection, mongo } from 'mongoose';
import { enumText } from '../ticket/rules/fields.ts';
import { belongsTo, type IndexReason } from '../ticket/store/schema.ts';

export interface HistoryEntryDocument {
  /** Its id in the system that has recorded it, so that it is unique on any cluster. */
  _id: string;
  id: number;
  type: string;
  customerId: string | null;
  contractId: string | null;
  subChannel: string | null;
  subject: string | null;
  url: string | null;
  createdAt: Date;
}

/** The type of an entry, and its form in the document. */
export const entryType = enumText<HistoryEntryType>(HistoryEntryTypeSchema, 0);
/** The precise channel of an entry, and its form in the document. */
export const entrySubChannel = enumText<HistorySubChannel | null>(HistorySubChannelSchema, null);

const historyEntryIndexes: readonly IndexReason[] = [
  {
    index: { customerId: 1, createdAt: 1, id: 1 },
    options: { partialFilterExpression: belongsTo('customerId') },
    reason: 'the history of a customer',
  },
  {
    index: { contractId: 1, createdAt: 1, id: 1 },
    options: { partialFilterExpression: belongsTo('contractId') },
    reason: 'the history of a contract',
  },
  { index: { id: 1 }, reason: 'the entries of a page' },
];

export function historyEntries(connection: Connection): mongo.Collection<HistoryEntryDocument> {
  return openCollection(connection, 'historyEntries');
}

export async function buildHistoryIndexes(connection: Connection): Promise<void> {
  for (const { index, options } of historyEntryIndexes) {
    await historyEntries(connection).createIndex(
      index as mongo.IndexSpecification,
      options as mongo.CreateIndexesOptions,
    );
  }
}
