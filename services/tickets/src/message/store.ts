import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { batchedInsert } from '@ticketing/store/document/batched-insert.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection } from 'mongoose';
import type { MessageDelivery } from '../ticket/rules/intent.ts';
import type { MessageReference } from './external-id-store.ts';
import type { DeliveryFailure } from './rules/delivery-report.ts';
import {
  type ConversationInput,
  type ConversationState,
  conversationField,
  conversationFieldNames,
  messageBytes,
} from './rules/fields.ts';
import { type ConversationDocument, conversationCollection, type MailDocument } from './schema.ts';

/** A message as it is stored. */
export interface StoredConversation {
  conversation: ConversationState;
  /** The number of its changes. */
  revision: number;
  /** Whether a process is publishing it at the moment. */
  isBeingPublished: boolean;
  /** The sending of it as a mail. */
  mail: MailDocument | null;
  /** The recipients of the mail that were reported as failed. */
  bounced: readonly string[];
}

/** The fields of a message of which its search words are made. */
type SearchedConversation = Pick<ConversationState, (typeof searchedFields)[number]>;

const searchedFields = ['direction', 'private', 'from', 'fromName', 'to', 'cc', 'bcc', 'subject', 'bodyPlain'] as const;

/** A message that may be in no ticket, and since when. */
interface UnseenMessage {
  id: number;
  ticketId: number;
  unseenSince: Date;
}

/** The delivery of a message, as far as its ticket does not show it. */
interface FoundDelivery {
  /** Undefined if the ticket does not show it at all. */
  delivery: MessageDelivery | undefined;
  failures: readonly DeliveryFailure[];
  /** Whether there may be failures. */
  hasFailures: boolean;
  hasOpenedTicket: boolean;
}

interface ConversationChange {
  set?: Partial<ConversationInput>;
  mail?: MailDocument | null;
  /** The recipients that were reported as failed. */
  bounced?: string[];
  /** Keeps others from changing the message until then. Units: ms from now. */
  publishingForMs?: number;
}

/**
 * The messages of tickets that are stored apart from them. A message is part of a ticket only if the ticket says so: it
 * is inserted before, and a message that no ticket has is removed later.
 *
 * Errors of every operation: store_unavailable.
 */
export interface ConversationStore {
  /** Returns false if the id is taken. */
  insert(conversation: ConversationState, mail: MailDocument | null): Promise<boolean>;
  find(id: number): Promise<StoredConversation | undefined>;
  /** Finds the ticket of a message, and the mailbox from which it was sent. */
  findSender(id: number): Promise<{ ticketId: number; subchannelId: number | null } | undefined>;
  findSome(ids: readonly number[]): Promise<StoredConversation[]>;
  /** Finds the fields of which the search words of messages are made, in the order of their ids; `isNote`: of notes only, or not of notes. */
  findSearched(ids: readonly number[], isNote?: boolean): Promise<SearchedConversation[]>;
  /** The sizes of the messages of a ticket, oldest first, also of those that the ticket does not have yet. The index has them. */
  findSizes(ticketId: number): Promise<{ id: number; bytes: number }[]>;
  /** The files of those messages of a ticket that list some, also of messages that the ticket does not have yet. */
  findFiles(ticketId: number, attachmentId?: string): Promise<Pick<ConversationState, 'id' | 'attachments'>[]>;
  /** Takes a file out of the lists of all messages of a ticket. */
  removeAttachment(ticketId: number, attachmentId: string): Promise<void>;
  /** How many messages a ticket has received since a time, up to a limit. Units: Unix seconds. */
  countReceived(ticketId: number, since: number, limit: number): Promise<number>;
  /** Has the ticket of a message show its delivery from now on. */
  showDelivery(reference: MessageReference): Promise<void>;
  /** The messages, in the order of their ids, whose tickets do not show their delivery as it is, or all failures. */
  findNotShown(after: number, limit: number): Promise<MessageReference[]>;
  findDelivery(id: number): Promise<FoundDelivery | undefined>;
  /** Records that the ticket of a message was notified of a failure, and whether that has opened it. */
  setNoted(id: number, failureId: string, options: { hasOpened: boolean }): Promise<void>;
  /** Records that the ticket of a message was notified of all failures, if that is so. */
  setAllNoted(id: number): Promise<void>;
  /** Records that the ticket of a message shows its delivery. Returns false if that has changed since. */
  setShown(id: number, shown: MessageDelivery): Promise<boolean>;
  /** Changes a message. Returns false if it was changed since it was read. */
  update(stored: StoredConversation, change: ConversationChange): Promise<boolean>;
  /** Stores texts that were made again from the body of a message, which does not count as a change of it. */
  setDerived(conversation: ConversationState): Promise<void>;
  remove(id: number): Promise<void>;
  removeByTicket(ticketId: number): Promise<void>;
  /** The messages that have been unseen for some time, the oldest first. Units: ms. */
  unseenFor(ms: number, limit: number): Promise<UnseenMessage[]>;
  /** Marks a message as unseen from now on. Returns false if there is no such message. */
  setUnseen(id: number): Promise<boolean>;
  /** Records that their tickets have messages, except those that were marked again since they were read together. */
  setSeen(unseen: readonly UnseenMessage[]): Promise<void>;
  /** Removes a message, unless it was marked again or seen since it was read. Returns whether it was removed. */
  removeUnseen(unseen: UnseenMessage): Promise<boolean>;
}

export function conversationStore(connection: Connection): ConversationStore {
  const conversations = conversationCollection(connection);
  const insertDocument = batchedInsert(conversations);
  const toStored = (document: ConversationDocument): StoredConversation => ({
    conversation: fromDocument(document),
    revision: document.revision,
    isBeingPublished: (document.publishingUntil?.getTime() ?? 0) > serverTime(connection),
    mail: document.mail,
    bounced: document.bounced ?? [],
  });
  return {
    insert: (conversation, mail) =>
      storeCall(() =>
        insertDocument({ ...toDocument(conversation, mail), unseenSince: new Date(serverTime(connection)) }),
      ),
    find: (id) =>
      storeCall(async () => {
        const found = await conversations.findOne({ _id: id });
        return found ? toStored(found) : undefined;
      }),
    findSender: (id) =>
      storeCall(async () => {
        const found = await conversations.findOne({ _id: id }, { projection: { ticketId: 1, subchannelId: 1 } });
        if (!found) return undefined;
        const { ticketId, subchannelId } = fromDocument(found);
        return { ticketId, subchannelId };
      }),
    findSome: (ids) =>
      storeCall(async () => (await conversations.find({ _id: { $in: [...ids] } }).toArray()).map(toStored)),
    findSearched: (ids, isNote) =>
      storeCall(async () => {
        const query = { _id: { $in: [...ids] }, ...(isNote === undefined ? {} : { private: isNote }) };
        const projection = Object.fromEntries(searchedFields.map((name) => [name, 1]));
        const options = { projection, sort: { _id: 1 } } as const;
        return (await conversations.find(query, options).toArray()).map(fromDocument);
      }),
    findSizes: (ticketId) =>
      storeCall(async () => {
        const options = { projection: { bytes: 1 }, sort: { createdAt: 1, _id: 1 } } as const;
        const found = await conversations.find({ ticketId }, options).toArray();
        return found.map(({ _id, bytes }) => ({ id: _id, bytes }));
      }),
    findFiles: (ticketId, attachmentId) =>
      storeCall(async () => {
        const hasFiles = { ticketId, 'attachments.id': attachmentId ?? { $exists: true } };
        const found = await conversations.find(hasFiles, { projection: { attachments: 1 } }).toArray();
        return found.map((document) => {
          const { id, attachments } = fromDocument(document);
          return { id, attachments };
        });
      }),
    async removeAttachment(ticketId, attachmentId) {
      const hasFile = { ticketId, 'attachments.id': attachmentId };
      const removal: Query = { $pull: { attachments: { id: attachmentId } }, $inc: { revision: 1 } };
      await storeCall(() => conversations.updateMany(hasFile, removal));
    },
    countReceived: (ticketId, since, limit) =>
      storeCall(() => {
        const received = { direction: conversationField('direction').store(Direction.IN) };
        const query = { ticketId, createdAt: { $gte: new Date(since * 1000) }, ...received };
        return conversations.countDocuments(query, { limit });
      }),
    async showDelivery({ ticketId, conversationId }) {
      const change = { $set: { reportsDelivery: true, isReported: false } };
      await storeCall(() => conversations.updateOne({ _id: conversationId, ticketId }, change));
    },
    findNotShown: (after, limit) =>
      storeCall(async () => {
        const isNotShown = { $or: [{ reportsDelivery: true, isReported: false }, { hasFailures: true }] };
        const options = { projection: { ticketId: 1 }, sort: { _id: 1 }, limit } as const;
        const found = await conversations.find({ _id: { $gt: after }, ...isNotShown }, options).toArray();
        return found.map(({ _id, ticketId }) => ({ ticketId, conversationId: _id }));
      }),
    findDelivery: (id) =>
      storeCall(async () => {
        const projection = {
          ...{ deliveryStatus: 1, deliveryRevision: 1, reportsDelivery: 1 },
          ...{ failures: 1, hasFailures: 1, hasOpenedTicket: 1 },
        } as const;
        const found = await conversations.findOne({ _id: id }, { projection });
        if (!found) return undefined;
        const { deliveryRevision: revision = 0, reportsDelivery } = found;
        const { failures = [], hasFailures = false, hasOpenedTicket = false } = found;
        const delivery = reportsDelivery ? { status: fromDocument(found).deliveryStatus, revision } : undefined;
        return { delivery, failures, hasFailures, hasOpenedTicket };
      }),
    async setNoted(id, failureId, { hasOpened }) {
      const removal: Query = { $pull: { failures: { id: failureId } } };
      const change = { ...removal, ...(hasOpened ? { $set: { hasOpenedTicket: true } } : {}) };
      await storeCall(() => conversations.updateOne({ _id: id }, change));
    },
    async setAllNoted(id) {
      const hasNone: Query = { _id: id, failures: [] };
      await storeCall(() => conversations.updateOne(hasNone, { $unset: { hasFailures: 1 } }));
    },
    setShown: (id, { status, revision }) =>
      storeCall(async () => {
        const isSame = {
          _id: id,
          deliveryStatus: conversationField('deliveryStatus').store(status),
          deliveryRevision: revision === 0 ? { $in: [0, null] } : revision,
        } as Query;
        return (await conversations.updateOne(isSame, { $set: { isReported: true } })).matchedCount === 1;
      }),
    update: ({ conversation, revision }, { set = {}, mail, bounced, publishingForMs }) =>
      storeCall(async () => {
        const publishingUntil =
          publishingForMs === undefined ? null : new Date(serverTime(connection) + publishingForMs);
        const isNewDelivery = set.deliveryStatus !== undefined;
        const change: Query = {
          $set: {
            ...storedFields(set),
            bytes: messageBytes({ ...conversation, ...set }),
            revision: revision + 1,
            publishingUntil,
            ...(mail === undefined ? {} : { mail }),
            ...(bounced === undefined ? {} : { bounced }),
            ...(isNewDelivery ? { isReported: false } : {}),
          },
          ...(isNewDelivery ? { $inc: { deliveryRevision: 1 } } : {}),
        };
        const { matchedCount } = await conversations.updateOne({ _id: conversation.id, revision }, change);
        return matchedCount === 1;
      }),
    async setDerived({ id, ...conversation }) {
      const { bodyHtml, bodyPlain, bodyClean, bodyRules } = conversation;
      const texts = storedFields({ bodyHtml, bodyPlain, bodyClean, bodyRules });
      const set = { ...texts, bytes: messageBytes(conversation) };
      await storeCall(() => conversations.updateOne({ _id: id }, { $set: set }));
    },
    async remove(id) {
      await storeCall(() => conversations.deleteOne({ _id: id }));
    },
    async removeByTicket(ticketId) {
      await storeCall(() => conversations.deleteMany({ ticketId }));
    },
    unseenFor: (ms, limit) =>
      storeCall(async () => {
        const before = new Date(serverTime(connection) - ms);
        const options = { projection: { ticketId: 1, unseenSince: 1 }, sort: { unseenSince: 1 }, limit } as const;
        const found = await conversations.find({ unseenSince: { $lt: before } }, options).toArray();
        return found.map(({ _id, ticketId, unseenSince = before }) => ({ id: _id, ticketId, unseenSince }));
      }),
    async setUnseen(id) {
      const unseenSince = new Date(serverTime(connection));
      return storeCall(async () => {
        const { matchedCount } = await conversations.updateOne({ _id: id }, { $set: { unseenSince } });
        return matchedCount === 1;
      });
    },
    async setSeen(unseen) {
      if (unseen.length === 0) return;
      const ids = unseen.map(({ id }) => id);
      // One that was marked again has a later time than any of those that were read.
      const newest = new Date(Math.max(...unseen.map(({ unseenSince }) => unseenSince.getTime())));
      const isAsRead = { _id: { $in: ids }, unseenSince: { $lte: newest } };
      await storeCall(() => conversations.updateMany(isAsRead, { $unset: { unseenSince: 1 } }));
    },
    removeUnseen: ({ id, unseenSince }) =>
      storeCall(async () => (await conversations.deleteOne({ _id: id, unseenSince })).deletedCount === 1),
  };
}

function toDocument(conversation: ConversationState, mail: MailDocument | null): ConversationDocument {
  const { id, ticketId, ...fields } = conversation;
  return {
    _id: id,
    ticketId,
    ...storedFields(fields),
    bytes: messageBytes(fields),
    revision: 1,
    publishingUntil: null,
    mail,
  };
}

function storedFields(fields: Partial<ConversationInput>): Record<string, unknown> {
  const names = conversationFieldNames.filter((name) => fields[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, conversationField(name).store(fields[name])]));
}

export function fromDocument(document: ConversationDocument): ConversationState {
  const fields = conversationFieldNames.map((name) => [name, conversationField(name).load(document[name] as never)]);
  return {
    ...(Object.fromEntries(fields) as unknown as ConversationInput),
    id: document._id,
    ticketId: document.ticketId,
  };
}
