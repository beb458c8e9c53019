import { retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Connection, type Model, Schema } from 'mongoose';

/** The mode of the first analysis of a ticket. */
export const firstAnalysis = 'first';

/** A request for a new analysis of a ticket. */
interface AnalysisRequest {
  ticketId: number;
  /** Names what to analyse: the JSON spelling of a refresh mode, or `firstAnalysis`. */
  mode: string;
}

/** A request as it is stored. */
export interface StoredRequest extends AnalysisRequest {
  /** Rises when the same is requested again. */
  revision: number;
}

/** The pending requests for analyses. Errors of every operation: store_unavailable. */
export interface AnalysisRequestStore {
  /** Adds requests that were made at a time. A request with the same ticket and mode is not added twice. */
  add(requests: readonly AnalysisRequest[], at: Date): Promise<void>;
  /** The oldest requests, at most `limit`. */
  oldest(limit: number): Promise<StoredRequest[]>;
  /** Removes requests, apart from those that were made again since they were read. */
  remove(requests: readonly StoredRequest[]): Promise<void>;
  removeByTicket(ticketId: number): Promise<void>;
}

interface AnalysisRequestDocument extends StoredRequest {
  _id: string;
  at: Date;
}

/** The mongoose model of the requests on a connection. */
export function analysisRequestModel(connection: Connection): Model<AnalysisRequestDocument> {
  const schema = new Schema<AnalysisRequestDocument>(
    { _id: String, ticketId: Number, mode: String, at: Date, revision: Number },
    { versionKey: false, collection: 'analysisRequests' },
  );
  schema.index({ ticketId: 1 });
  schema.index({ at: 1 });
  return connection.model<AnalysisRequestDocument>('AnalysisRequest', schema);
}

export function analysisRequestStore(connection: Connection): AnalysisRequestStore {
  const requests = analysisRequestModel(connection);
  return {
    async add(added, at) {
      if (added.length === 0) return;
      const writes = added.map(({ ticketId, mode }) => ({
        updateOne: {
          filter: { _id: requestId({ ticketId, mode }) },
          update: { $setOnInsert: { ticketId, mode, at }, $inc: { revision: 1 } },
          upsert: true,
        },
      }));
      await storeCall(() => retryUpsert(() => requests.bulkWrite(writes, { ordered: false })));
    },
    oldest: (limit) =>
      storeCall(async () => {
        const found = await requests.find().sort({ at: 1 }).limit(limit).lean<AnalysisRequestDocument[]>();
        return found.map(({ ticketId, mode, revision }) => ({ ticketId, mode, revision }));
      }),
    async remove(removed) {
      if (removed.length === 0) return;
      const deletions = removed.map((one) => ({
        deleteOne: { filter: { _id: requestId(one), revision: one.revision } },
      }));
      await storeCall(() => requests.bulkWrite(deletions, { ordered: false }));
    },
    async removeByTicket(ticketId) {
      await storeCall(() => requests.deleteMany({ ticketId }));
    },
  };
}

function requestId({ ticketId, mode }: AnalysisRequest): string {
  return `${ticketId}:${mode}`;
}
