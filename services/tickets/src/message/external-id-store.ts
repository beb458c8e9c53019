import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { batchedInsert } from '@ticketing/store/document/batched-insert.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { type Connection, type Model, Schema } from 'mongoose';

/** A message of a ticket. */
export interface MessageReference {
  ticketId: number;
  conversationId: number;
}

/** The beginning of digests of mails. A digest of a version that made it otherwise has another one, and is not compared. */
export const digestPrefix = '2:';

/** By what a mail is known, besides its `Message-ID`. */
export interface MailIdentity {
  /** The digest of its author, date, subject and parts. */
  digest: string;
  /** The id of the subchannel that received it; null if none did. */
  mailbox: number | null;
}

/** The message that has an external id, and the mail for which it was claimed: unset for any other message. */
export interface ClaimedId extends MessageReference {
  mail?: MailIdentity | undefined;
}

/**
 * Whether an external id was claimed for a mail that has arrived again: for the same mailbox, or in the ticket that it
 * answers. Undefined if the claim names no mail, or has the digest of an earlier version.
 */
export function isSameMail(
  claimed: ClaimedId,
  { digest, mailbox }: MailIdentity,
  answeredTicketId: number | undefined,
): boolean | undefined {
  if (!claimed.mail?.digest.startsWith(digestPrefix)) return undefined;
  return claimed.mail.digest === digest && (claimed.mail.mailbox === mailbox || claimed.ticketId === answeredTicketId);
}

/** An external id that was claimed for a message, and since when the message may be in no ticket. */
export interface UnseenMessageId extends MessageReference {
  externalId: string;
  unseenSince: Date;
}

/**
 * The ids of messages in other systems, for example the `Message-ID` of mails that were received or sent. Each belongs to
 * one message, and is unseen until it was found that a ticket has that message.
 *
 * Errors of every operation: store_unavailable.
 */
export interface ExternalMessageIdStore {
  /** Returns the message that has the external id. If none has it, the proposed one gets it. */
  claim(externalId: string, proposed: ClaimedId): Promise<ClaimedId>;
  /**
   * Has an external id count as claimed now, if it still belongs to this message. Returns false if it does not: it may have
   * been swept.
   */
  renew(externalId: string, claimed: MessageReference): Promise<boolean>;
  /** Gives an external id to another message, if it still belongs to `from`. */
  replace(externalId: string, from: MessageReference, to: ClaimedId): Promise<boolean>;
  /** Finds the messages that have some of these external ids, in the order of the ids. */
  find(externalIds: readonly string[]): Promise<ClaimedId[]>;
  /**
   * The external ids of the first message of a ticket and of the last ones, in the order of their messages. Mails that this
   * version has received are left out.
   */
  ofTicket(ticketId: number, count: number): Promise<{ externalId: string; conversationId: number }[]>;
  /** Frees an external id, if it belongs to this message. */
  freeOne(externalId: string, claimed: MessageReference): Promise<void>;
  freeMessage(conversationId: number): Promise<void>;
  /** Frees the external ids of the messages of a ticket. */
  free(ticketId: number): Promise<void>;
  /** The external ids that have been unseen for some time, the oldest first. Units: ms. */
  unseenFor(ms: number, limit: number): Promise<UnseenMessageId[]>;
  /** Records that tickets have the messages of these external ids. */
  setSeen(externalIds: readonly string[]): Promise<void>;
  /** Frees an external id, unless it was claimed or renewed since it was read. */
  freeUnseen(unseen: UnseenMessageId): Promise<void>;
}

interface ExternalMessageIdDocument extends ClaimedId {
  /** The external id. */
  _id: string;
  /** Absent once its message was found in its ticket. */
  unseenSince?: Date;
}

export function externalMessageIdStore(connection: Connection): ExternalMessageIdStore {
  const externalIds = externalMessageIdModel(connection);
  const insert = batchedInsert(externalIds.collection);
  const now = () => new Date(serverTime(connection));
  const change = (externalId: string, from: MessageReference, to: ClaimedId) =>
    storeCall(async () => {
      const set = { $set: { ...toClaimed(to), unseenSince: now() } };
      const { matchedCount } = await externalIds.updateOne({ _id: externalId, ...toReference(from) }, set);
      return matchedCount === 1;
    });
  return {
    claim: (externalId, proposed) =>
      storeCall(async () => {
        for (;;) {
          if (await insert({ _id: externalId, ...toClaimed(proposed), unseenSince: now() })) return proposed;
          const claimed = await externalIds.findById(externalId).lean();
          if (claimed) return toClaimed(claimed);
          // A deletion has freed it between the two operations.
        }
      }),
    renew: (externalId, claimed) => change(externalId, claimed, claimed),
    replace: change,
    find: (ids) =>
      storeCall(async () => {
        const found = await externalIds.find({ _id: { $in: [...ids] } }).lean();
        const byId = new Map(found.map((one) => [one._id, toClaimed(one)]));
        return ids.flatMap((id) => byId.get(id) ?? []);
      }),
    ofTicket: (ticketId, count) =>
      storeCall(async () => {
        const ordered = (order: 1 | -1, limit: number) =>
          externalIds
            .find({ ticketId, mail: { $exists: false } })
            .sort({ conversationId: order })
            .limit(limit)
            .lean();
        const last = (await ordered(-1, count)).reverse();
        const first = last.length < count ? [] : await ordered(1, 1);
        const isLast = new Set(last.map(({ _id }) => _id));
        return [...first.filter(({ _id }) => !isLast.has(_id)), ...last].map(({ _id, conversationId }) => ({
          externalId: _id,
          conversationId,
        }));
      }),
    async freeOne(externalId, claimed) {
      await storeCall(() => externalIds.deleteOne({ _id: externalId, ...toReference(claimed) }));
    },
    async freeMessage(conversationId) {
      await storeCall(() => externalIds.deleteMany({ conversationId }));
    },
    async free(ticketId) {
      await storeCall(() => externalIds.deleteMany({ ticketId }));
    },
    unseenFor: (ms, limit) =>
      storeCall(async () => {
        const before = new Date(serverTime(connection) - ms);
        const unseen = { unseenSince: { $lt: before } };
        const found = await externalIds.find(unseen).sort({ unseenSince: 1 }).limit(limit).lean();
        return found.map((one) => ({
          ...toReference(one),
          externalId: one._id,
          unseenSince: one.unseenSince ?? before,
        }));
      }),
    async setSeen(ids) {
      await storeCall(() => externalIds.updateMany({ _id: { $in: [...ids] } }, { $unset: { unseenSince: 1 } }));
    },
    async freeUnseen({ externalId, unseenSince }) {
      await storeCall(() => externalIds.deleteOne({ _id: externalId, unseenSince }));
    },
  };
}

function toClaimed({ mail, ...reference }: ClaimedId): ClaimedId {
  return { ...toReference(reference), ...(mail && { mail: { digest: mail.digest, mailbox: mail.mailbox } }) };
}

function toReference({ ticketId, conversationId }: MessageReference): MessageReference {
  return { ticketId, conversationId };
}

export function externalMessageIdModel(connection: Connection): Model<ExternalMessageIdDocument> {
  const schema = new Schema<ExternalMessageIdDocument>(
    { _id: String, ticketId: Number, conversationId: Number, unseenSince: Date, mail: Schema.Types.Mixed },
    { versionKey: false, collection: 'externalMessageIds' },
  );
  schema.index({ ticketId: 1, conversationId: 1 });
  schema.index({ conversationId: 1 });
  schema.index({ unseenSince: 1 }, { partialFilterExpression: { unseenSince: { $exists: true } } });
  return connection.model<ExternalMessageIdDocument>('ExternalMessageId', schema);
}
