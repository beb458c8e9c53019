import { retryUpsert, storeCall } from '@ticketing/store/store-error.ts';
import { type Connection, type Model, Schema } from 'mongoose';

/** A request for a new analysis of a ticket. */
export interface AnalysisRequest {
  ticketId: number;
  /** What to analyse: the JSON spelling of a refresh mode. */
  mode: string;
}

/** The requests for analyses that are not made yet. Errors of every operation: store_unavailable. */
export interface AnalysisRequestStore {
  /** Adds requests that were made at a time. A request with the same ticket and mode is not added twice. */
  add(requests: readonly AnalysisRequest[], at: Date): Promise<void>;
  /** Removes the requests for a ticket. */
  removeOf(ticketId: number): Promise<void>;
}

interface AnalysisRequestDocument {
  _id: string;
  ticketId: number;
  mode: string;
  at: Date;
}

/** The mongoose model of the requests on a connection. */
export function analysisRequestModel(connection: Connection): Model<AnalysisRequestDocument> {
  const schema = new Schema<AnalysisRequestDocument>(
    { _id: String, ticketId: Number, mode: String, at: Date },
    { versionKey: false, collection: 'analysisRequests' },
  );
  schema.index({ ticketId: 1 });
  return connection.model<AnalysisRequestDocument>('AnalysisRequest', schema);
}

/** Opens the requests on a connection. */
export function analysisRequestStore(connection: Connection): AnalysisRequestStore {
  const requests = analysisRequestModel(connection);
  return {
    async add(added, at) {
      if (added.length === 0) return;
      const writes = added.map(({ ticketId, mode }) => ({
        updateOne: {
          filter: { _id: `${ticketId}:${mode}` },
          update: { $setOnInsert: { ticketId, mode, at } },
          upsert: true,
        },
      }));
      await storeCall(() => retryUpsert(() => requests.bulkWrite(writes, { ordered: false })));
    },
    async removeOf(ticketId) {
      await storeCall(() => requests.deleteMany({ ticketId }));
    },
  };
}
