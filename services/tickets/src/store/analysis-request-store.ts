import { retryUpsert, storeCall } from '@ticketing/store/store-error.ts';
import { type Connection, type Model, Schema } from 'mongoose';

/** A request to analyse a ticket again. */
export interface AnalysisRequest {
  ticketId: number;
  /** What to analyse: a refresh mode, as the specification spells it. */
  mode: string;
}

/** The requests for analyses that were not made yet. Errors of every operation: store_unavailable. */
export interface AnalysisRequestStore {
  /** A request that is already there is not added a second time. */
  add(requests: readonly AnalysisRequest[], at: Date): Promise<void>;
  forget(ticketId: number): Promise<void>;
}

interface AnalysisRequestDocument {
  _id: string;
  ticketId: number;
  mode: string;
  at: Date;
}

/** The model of the requests on a connection. */
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
    async forget(ticketId) {
      await storeCall(() => requests.deleteMany({ ticketId }));
    },
  };
}
