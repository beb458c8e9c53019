import { batchedCalls } from '@ticketing/runtime/batched-calls.ts';
import { batchedInsert } from '@ticketing/store/document/batched-insert.ts';
import { isUnreachable, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Connection, type Model, Schema } from 'mongoose';

/**
 * The external ids of tickets. Each belongs to one ticket. Errors of every operation:
 * store_unavailable.
 */
export interface ExternalIdStore {
  /** The ticket that has the external id, which may not exist yet. */
  find(externalTicketId: string): Promise<number | undefined>;
  /** Returns the ticket that has the external id. If none has it, the proposed ticket gets it. */
  claim(externalTicketId: string, proposedTicketId: number): Promise<number>;
  free(ticketId: number): Promise<void>;
}

interface ExternalIdDocument {
  /** The external id. */
  _id: string;
  ticketId: number;
}

export function externalIdStore(connection: Connection): ExternalIdStore {
  const externalIds = externalIdModel(connection);
  const insert = batchedInsert(externalIds.collection);
  const find = batchedCalls(
    async (ids: readonly string[]) => {
      const found = await externalIds.find({ _id: { $in: ids } }).lean();
      const ticketIds = new Map(found.map(({ _id, ticketId }) => [_id, ticketId]));
      return ids.map((id) => ticketIds.get(id));
    },
    { failsAll: isUnreachable },
  );
  return {
    find: (externalTicketId) => storeCall(() => find(externalTicketId)),
    claim: (externalTicketId, proposedTicketId) =>
      storeCall(async () => {
        for (;;) {
          if (await insert({ _id: externalTicketId, ticketId: proposedTicketId })) return proposedTicketId;
          const claimed = await find(externalTicketId);
          if (claimed !== undefined) return claimed;
          // A deletion has freed it between the two operations.
        }
      }),
    async free(ticketId) {
      await storeCall(() => externalIds.deleteMany({ ticketId }));
    },
  };
}

function externalIdModel(connection: Connection): Model<ExternalIdDocument> {
  const schema = new Schema<ExternalIdDocument>(
    { _id: String, ticketId: Number },
    { versionKey: false, collection: 'externalIds' },
  );
  return connection.model<ExternalIdDocument>('ExternalId', schema);
}
