import { batchedInsert } from '@ticketing/store/batched-insert.ts';
import { storeCall } from '@ticketing/store/store-error.ts';
import { type Connection, type Model, Schema } from 'mongoose';

/** A message of a ticket. */
export interface MessageReference {
  ticketId: number;
  conversationId: number;
}

/**
 * The ids of messages in other systems, for example the `Message-ID` of mails that were received or sent. Each belongs to
 * one message. Errors of every operation: store_unavailable.
 */
export interface ExternalMessageIdStore {
  /** Returns the message that has the external id. If none has it, the proposed one gets it. */
  claim(externalId: string, proposed: MessageReference): Promise<MessageReference>;
  /** Gives an external id to another message, if it still belongs to `from`. */
  replace(externalId: string, from: MessageReference, to: MessageReference): Promise<boolean>;
  /** Finds the messages that have some of these external ids, in the order of the ids. */
  find(externalIds: readonly string[]): Promise<MessageReference[]>;
  /** The external ids of the messages of a ticket, in the order of their messages. */
  ofTicket(ticketId: number): Promise<{ externalId: string; conversationId: number }[]>;
  /** Frees the external ids of a message. */
  freeMessage(conversationId: number): Promise<void>;
  /** Frees the external ids of the messages of a ticket. */
  free(ticketId: number): Promise<void>;
}

interface ExternalMessageIdDocument extends MessageReference {
  /** The external id. */
  _id: string;
}

/** Opens the external ids of messages on a connection. */
export function externalMessageIdStore(connection: Connection): ExternalMessageIdStore {
  const externalIds = externalMessageIdModel(connection);
  const insert = batchedInsert(externalIds.collection);
  return {
    claim: (externalId, proposed) =>
      storeCall(async () => {
        for (;;) {
          if (await insert({ _id: externalId, ...proposed })) return proposed;
          const claimed = await externalIds.findById(externalId).lean();
          if (claimed) return referenceOf(claimed);
          // A deletion has freed it between the two operations.
        }
      }),
    replace: (externalId, from, to) =>
      storeCall(async () => {
        const { matchedCount } = await externalIds.updateOne({ _id: externalId, ...from }, { $set: to });
        return matchedCount === 1;
      }),
    find: (ids) =>
      storeCall(async () => {
        const found = await externalIds.find({ _id: { $in: [...ids] } }).lean();
        const byId = new Map(found.map((one) => [one._id, referenceOf(one)]));
        return ids.flatMap((id) => byId.get(id) ?? []);
      }),
    ofTicket: (ticketId) =>
      storeCall(async () => {
        const found = await externalIds.find({ ticketId }).sort({ conversationId: 1 }).lean();
        return found.map(({ _id, conversationId }) => ({ externalId: _id, conversationId }));
      }),
    async freeMessage(conversationId) {
      await storeCall(() => externalIds.deleteMany({ conversationId }));
    },
    async free(ticketId) {
      await storeCall(() => externalIds.deleteMany({ ticketId }));
    },
  };
}

function referenceOf({ ticketId, conversationId }: ExternalMessageIdDocument): MessageReference {
  return { ticketId, conversationId };
}

/** The model of the external ids of messages on a connection. */
export function externalMessageIdModel(connection: Connection): Model<ExternalMessageIdDocument> {
  const schema = new Schema<ExternalMessageIdDocument>(
    { _id: String, ticketId: Number, conversationId: Number },
    { versionKey: false, collection: 'externalMessageIds' },
  );
  schema.index({ ticketId: 1, conversationId: 1 });
  schema.index({ conversationId: 1 });
  return connection.model<ExternalMessageIdDocument>('ExternalMessageId', schema);
}
