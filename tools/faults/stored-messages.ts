import type { Connection } from 'mongoose';
import type { MessageCounts } from './message-verdict.ts';

/** The messages and files in the database of the tickets service. */
export interface StoredMessages {
  counts: Map<number, MessageCounts>;
  openingIds: Set<number>;
  /** A sentence for each document that belongs to no ticket. */
  leftOver: string[];
  /** A sentence for each file that a ticket or a message lists, but that is not whole. */
  missingFiles: string[];
}

/** The documents of the tickets service, as far as they matter here. */
export interface MessageDocuments {
  tickets: readonly TicketDocument[];
  conversations: readonly ConversationDocument[];
  externalMessageIds: readonly { _id: string; ticketId: number; conversationId: number }[];
  fileRecords: readonly { _id: string; ownerId?: number | null; part?: { id: number; size: number } }[];
  /** How many bytes of each file there are. */
  chunks: readonly { _id: string; bytes: number }[];
}

interface ListedFile {
  key: string;
  size: number;
}

interface TicketDocument {
  _id: number;
  deletedAt?: Date;
  openingMessageId?: number | null;
  conversationIds?: readonly number[];
  draftIds?: readonly number[];
  attachments?: readonly ListedFile[];
  incomingMessages?: number;
  outgoingMessages?: number;
  internalMessages?: number;
}

interface ConversationDocument {
  _id: number;
  ticketId: number;
  attachments?: readonly ListedFile[];
}

/** Reads the documents of messages and files. */
export async function readMessageDocuments(connection: Connection): Promise<MessageDocuments> {
  const all = (name: string) => connection.collection(name).find({}).toArray() as Promise<unknown[]>;
  const chunks = connection
    .collection('files.chunks')
    .aggregate([{ $group: { _id: '$files_id', bytes: { $sum: { $binarySize: '$data' } } } }])
    .toArray() as Promise<unknown[]>;
  const names = ['tickets', 'conversations', 'externalMessageIds', 'fileRecords'] as const;
  const [tickets, conversations, externalMessageIds, fileRecords] = await Promise.all(names.map(all));
  return { tickets, conversations, externalMessageIds, fileRecords, chunks: await chunks } as MessageDocuments;
}

/** Finds documents that belong to no ticket, and files that are missing. */
export function judgeStored(documents: MessageDocuments): StoredMessages {
  const { tickets, conversations, externalMessageIds, fileRecords, chunks } = documents;
  const living = tickets.filter(({ deletedAt }) => !deletedAt);
  const parts = new Set(
    living.flatMap(({ _id, openingMessageId, conversationIds = [], draftIds = [] }) =>
      [openingMessageId, ...conversationIds, ...draftIds].map((id) => `${_id} ${id}`),
    ),
  );
  const isPart = (ticketId: number, id: number) => parts.has(`${ticketId} ${id}`);
  const listed: ListedFile[] = [
    // Raw mails belong to messages that do not list them.
    ...fileRecords.flatMap(({ _id: key, ownerId, part }) =>
      part && typeof ownerId === 'number' && isPart(ownerId, part.id) ? [{ key, size: part.size }] : [],
    ),
    ...living.flatMap(({ attachments = [] }) => attachments),
    ...conversations.filter((one) => isPart(one.ticketId, one._id)).flatMap(({ attachments = [] }) => attachments),
  ];
  const keys = new Set(listed.map(({ key }) => key));
  const unlisted = (name: string, found: readonly { _id: string }[]) =>
    found.filter(({ _id }) => !keys.has(_id)).map(({ _id }) => `${name} ${_id} is listed by no ticket`);
  const bytes = new Map(chunks.map((one) => [one._id, one.bytes]));
  return {
    counts: new Map(
      living.map(({ _id, incomingMessages = 0, outgoingMessages = 0, internalMessages = 0 }) => [
        _id,
        { in: incomingMessages, out: outgoingMessages, internal: internalMessages },
      ]),
    ),
    openingIds: new Set(living.flatMap(({ openingMessageId }) => openingMessageId ?? [])),
    leftOver: [
      ...conversations
        .filter(({ _id, ticketId }) => !isPart(ticketId, _id))
        .map(({ _id, ticketId }) => `message ${_id} is no part of ticket ${ticketId}`),
      ...externalMessageIds
        .filter(({ ticketId, conversationId }) => !isPart(ticketId, conversationId))
        .map((one) => `the id ${one._id} is of message ${one.conversationId}, no part of ticket ${one.ticketId}`),
      ...unlisted('the record of file', fileRecords),
      ...unlisted('the content of file', chunks),
    ],
    missingFiles: listed
      .filter(({ key, size }) => (bytes.get(key) ?? 0) !== size)
      .map(({ key, size }) => `file ${key} with ${size} bytes is listed, but not stored`),
  };
}
