import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { outboxPush } from '@ticketing/events/outbox/outbox.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { batchedInsert } from '@ticketing/store/document/batched-insert.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { ownersOfTicketData } from '@ticketing/system/services.ts';
import type { EventActor } from '../../rules/event-header.ts';
import { bodyFields } from '../rules/change.ts';
import type { ConversationStep } from '../rules/decision.ts';
import type { TicketEvent } from '../rules/event.ts';
import { type TicketState, ticketFields } from '../rules/fields.ts';
import type { MessageDelivery } from '../rules/intent.ts';
import type { QueueChange } from '../rules/queue-keys.ts';
import { areSearched, chargedWords, messageTexts, searchedTexts, wordsRules } from '../rules/search-words.ts';
import type { WorkedOnChange } from '../rules/worked-on.ts';
import { batchedUpdate } from './batched-update.ts';
import {
  documentUpdate,
  erasedFields,
  excludedFromReads,
  type NewTicketParts,
  readDocument,
  type StoredTicket,
  storedFields,
  storedTicket,
  type TicketUpdate,
  type TicketWords,
  toDocument,
  workedOnUpdate,
} from './document.ts';
import { isNotDeleted, type TicketCollection } from './schema.ts';

/**
 * The tickets of this service. Every write of a ticket stores its event in the same write. Deleted tickets are not
 * found.
 *
 * Errors of every operation: store_unavailable.
 */
export interface TicketStore {
  /** Returns false if the id is taken, also by a deleted ticket. */
  insert(ticket: TicketState, parts: NewTicketParts): Promise<boolean>;
  find(id: number): Promise<StoredTicket | undefined>;
  /**
   * Finds those of the tickets that exist, by their ids, until they have more than some bytes together: at least one, and
   * `remainingIds`, which were not looked for.
   */
  findSome(ids: readonly number[], maxBytes: number): Promise<FoundTickets>;
  isDeleted(id: number): Promise<boolean>;
  /** Finds which messages a ticket has, and which files it lists. */
  findMessages(id: number): Promise<TicketMessages | undefined>;
  /** Finds which messages those of the tickets have that exist, by the ids of the tickets. */
  findMessageIds(ids: readonly number[]): Promise<Map<number, MessageIds>>;
  /** Adds a draft to a ticket, without a new version. Returns false if there is no such ticket, or it has too many. */
  addDraft(id: number, conversationId: number, maxDrafts: number): Promise<boolean>;
  /** Removes a draft from a ticket. Returns false if it has no such draft (any more). */
  removeDraft(id: number, conversationId: number): Promise<boolean>;
  findByExternalId(externalTicketId: string): Promise<StoredTicket | undefined>;
  /** Notes that tickets have assistant sessions. Returns the ids of those that exist. */
  noteSessions(ids: readonly number[]): Promise<number[]>;
  /** Notes that a ticket has none, unless it is noted whether it has some. */
  noteNoSessions(id: number): Promise<void>;
  /** The versions of those tickets that exist, by id. */
  versions(ids: readonly number[]): Promise<Map<number, number>>;
  /** The versions of all tickets with a higher id, in the order of their ids, including deleted ones, but not void ids. */
  versionsAfter(id: number, limit: number): Promise<TicketVersion[]>;
  /** Finds tickets that have any of some tags. */
  idsWithTags(tagIds: readonly number[], limit: number): Promise<number[]>;
  /** Finds pending tickets whose `dueBy` has passed. */
  dueIds(now: Date, limit: number): Promise<number[]>;
  /** Returns false if the ticket is no longer in the version that was read, or is reserved for another bulk. */
  update(update: TicketUpdate): Promise<boolean>;
  /** Changes who works on a ticket, without a new version. */
  setWorkedOn(id: number, workedOn: WorkedOnChange): Promise<void>;
  /**
   * Stores texts that were made again from the body of a ticket by other rules. This is no change of the ticket;
   * nothing happens if it was changed since it was read. `reader` causes it.
   */
  setBodyFields(ticket: TicketState, reader: EventActor): Promise<void>;
  /** Has a ticket show the delivery of one of its messages, unless it shows a later state. This is no change of the ticket. */
  setDelivery(id: number, conversationId: number, delivery: MessageDelivery): Promise<void>;
  /**
   * Marks the words of a ticket as outdated. Call it before one of its messages gets another text, in case the process
   * dies, and afterwards, because another may have made the words meanwhile.
   */
  outdateWords(id: number): Promise<void>;
  /** Finds tickets with outdated words, deleted ones too, with a higher id than one. */
  outdatedIds(after: number, limit: number): Promise<number[]>;
  /** Finds a ticket if its words are outdated. */
  findOutdated(id: number): Promise<OutdatedTicket | undefined>;
  /**
   * Stores the words of a ticket, none of a deleted one. This is no change of the ticket. Returns false if it or a message
   * was changed since it was read.
   */
  setWords(found: OutdatedTicket, words: TicketWords | undefined): Promise<boolean>;
  /** Deletes a ticket. Returns false if it is no longer in the version that was read, or is reserved for a bulk. */
  erase(ticket: TicketState, event: TicketEvent, at: Date): Promise<boolean>;
}

/** The messages of a ticket by id. The first one is among them only if it is stored apart from the ticket. */
export interface MessageIds extends Pick<StoredTicket, 'conversationIds' | 'draftIds'> {
  openingMessageId: number | null;
}

/** The messages of a ticket, and its files. */
export interface TicketMessages extends MessageIds {
  /** The files that the ticket itself lists. */
  attachments: readonly AttachmentState[];
}

/** A ticket whose words are outdated. */
export interface OutdatedTicket {
  id: number;
  version: number;
  /** How often its words became outdated without a new version. */
  revision: number | null;
  /** Undefined if it was deleted. */
  stored: StoredTicket | undefined;
}

/** Some of the tickets that were looked for. */
interface FoundTickets {
  tickets: StoredTicket[];
  bytes: number;
  remainingIds: number[];
}

export interface TicketVersion {
  ticketId: number;
  version: number;
  deleted: boolean;
}

/** Makes the words by which the full text search finds a ticket. `actor` causes it. */
export type SplitWords = (texts: readonly (string | number | null)[], actor: EventActor) => Promise<string[]>;

interface TicketStoreParts {
  /** Called after each write that has stored an event. */
  onEvent(): void;
  /** Makes a change of a ticket by `write`, so that the queue knows it. */
  changing(change: QueueChange, write: () => Promise<boolean>): Promise<boolean>;
  splitWords: SplitWords;
}

/**
 * How many imported tickets are inserted at once. The store needs milliseconds for one with a long text, for which the
 * writes of other callers wait.
 */
const importedAtOnce = 2;

export function ticketStore(
  tickets: TicketCollection,
  { onEvent, splitWords, changing }: TicketStoreParts,
): TicketStore {
  const insertDocument = batchedInsert(tickets);
  const insertImported = batchedInsert(tickets, { atMost: importedAtOnce });
  const updateRequested = batchedUpdate(tickets);
  // Deleted tickets are filtered out after the read: a query for `_id` alone takes MongoDB a third less time.
  const findOne = (query: Query) =>
    storeCall(async () => {
      const bytes = (await tickets.findOne(query, { projection: excludedFromReads, raw: true })) as Uint8Array | null;
      const document = bytes && readDocument(bytes);
      return document && document.deletedAt === undefined ? storedTicket(document) : undefined;
    });
  const updateOne = (filter: Query, update: Query) =>
    storeCall(async () => (await tickets.updateOne(filter, update)).matchedCount === 1);
  const change = async (queueChange: QueueChange, write: () => Promise<boolean>) => {
    const isWritten = await changing(queueChange, write);
    if (isWritten) onEvent();
    return isWritten;
  };
  return {
    async insert(ticket, parts) {
      const { id, version } = ticket;
      const { actor } = parts.event;
      const words = await splitWords(searchedTexts(ticket), actor);
      // The first message stays as it is, whatever becomes of the ticket.
      const ofMessage = parts.conversationIds?.length
        ? chargedWords(ticket, await splitWords(messageTexts(ticket), actor))
        : undefined;
      const document = toDocument(ticket, words, parts, ofMessage);
      return change({ id, version, after: ticket }, () =>
        storeCall(() => (parts.event.cause === 'import' ? insertImported : insertDocument)(document)),
      );
    },
    find: (id) => findOne({ _id: id }),
    findSome: (ids, maxBytes) => storeCall(() => findSome(tickets, ids, maxBytes)),
    isDeleted: (id) =>
      storeCall(async () => {
        const found = await tickets.findOne({ _id: id }, { projection: { deletedAt: 1 } });
        return found?.deletedAt !== undefined;
      }),
    findMessages: (id) =>
      storeCall(async () => {
        const projection = { conversationIds: 1, draftIds: 1, openingMessageId: 1, attachments: 1 };
        const found = await tickets.findOne({ _id: id, ...isNotDeleted }, { projection });
        if (!found) return undefined;
        const { conversationIds, draftIds, openingMessageId } = found;
        const attachments = ticketFields.attachments.load(found.attachments as never);
        return { conversationIds, draftIds, openingMessageId: openingMessageId as number | null, attachments };
      }),
    findMessageIds: (ids) =>
      storeCall(async () => {
        const projection = { conversationIds: 1, draftIds: 1, openingMessageId: 1 };
        const found = await tickets.find({ _id: { $in: [...ids] }, ...isNotDeleted }, { projection }).toArray();
        return new Map(
          found.map(({ _id, conversationIds, draftIds, openingMessageId }) => [
            _id,
            { conversationIds, draftIds, openingMessageId: openingMessageId as number | null },
          ]),
        );
      }),
    addDraft: (id, conversationId, maxDrafts) =>
      updateOne(
        {
          _id: id,
          draftIds: { $ne: conversationId },
          [`draftIds.${maxDrafts - 1}`]: { $exists: false },
          ...isNotDeleted,
        },
        { $push: { draftIds: conversationId } },
      ),
    removeDraft: (id, conversationId) =>
      updateOne({ _id: id, draftIds: conversationId, ...isNotDeleted }, { $pull: { draftIds: conversationId } }),
    findByExternalId: (externalTicketId) => findOne({ externalTicketId }),
    noteSessions: (ids) =>
      storeCall(async () => {
        const exist = { _id: { $in: [...ids] }, ...isNotDeleted };
        const found = await tickets.find(exist, { projection: { hasSessions: 1 } }).toArray();
        const unnoted = found.filter(({ hasSessions }) => !hasSessions).map(({ _id }) => _id);
        if (unnoted.length > 0) {
          await tickets.updateMany({ _id: { $in: unnoted }, ...isNotDeleted }, { $set: { hasSessions: true } });
        }
        return found.map(({ _id }) => _id);
      }),
    async noteNoSessions(id) {
      await updateOne({ _id: id, hasSessions: { $exists: false }, ...isNotDeleted }, { $set: { hasSessions: false } });
    },
    versions: (ids) =>
      storeCall(async () => {
        const options = { projection: { version: 1 } };
        const found = await tickets.find({ _id: { $in: [...ids] }, ...isNotDeleted }, options).toArray();
        return new Map(found.map(({ _id, version }) => [_id, version]));
      }),
    versionsAfter: (id, limit) =>
      storeCall(async () => {
        const options = { projection: { version: 1, deletedAt: 1 }, sort: { _id: 1 }, limit } as const;
        const found = await tickets.find({ _id: { $gt: id }, isVoid: { $ne: true } }, options).toArray();
        return found.map(({ _id, version, deletedAt }) => ({
          ticketId: _id,
          version,
          deleted: deletedAt !== undefined,
        }));
      }),
    idsWithTags: (tagIds, limit) =>
      storeCall(async () => {
        const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit } as const;
        const found = await tickets.find({ tagIds: { $in: [...tagIds] }, ...isNotDeleted }, options).toArray();
        return found.map(({ _id }) => _id);
      }),
    dueIds: (now, limit) =>
      storeCall(async () => {
        const isDue = { status: ticketFields.status.store(TicketStatus.PENDING), dueBy: { $lte: now } };
        const options = { projection: { _id: 1 }, sort: { dueBy: 1 }, limit } as const;
        return (await tickets.find(isDue, options).toArray()).map(({ _id }) => _id);
      }),
    async update(update) {
      const { after, changed, event } = update.change;
      const { id, version } = after;
      const words = areSearched(changed) ? await splitWords(searchedTexts(after), event.actor) : undefined;
      const unchanged = { ...isUnchanged(update.before.ticket, update.bulkId), ...hasMessage(update.conversation) };
      const document = documentUpdate(update, words);
      const requestId = update.appliedRequest?.id;
      return change({ id, version, after }, () =>
        requestId === undefined
          ? updateOne(unchanged, document)
          : storeCall(() => updateRequested({ ticketId: id, requestId, filter: unchanged, update: document })),
      );
    },
    async setWorkedOn(id, workedOn) {
      await updateOne({ _id: id, ...isNotDeleted }, workedOnUpdate(workedOn));
    },
    async setBodyFields(ticket, reader) {
      const words = await splitWords(searchedTexts(ticket), reader);
      const { id, version, bodyRules } = ticket;
      const isOlder = { _id: id, version, bodyRules: { $not: { $gte: bodyRules } }, ...isNotDeleted };
      const set = { ...storedFields(ticket, bodyFields), words };
      await updateOne(isOlder, { $set: set, $inc: { wordsRevision: 1 } });
    },
    async setDelivery(id, conversationId, delivery) {
      const field = `deliveries.${conversationId}`;
      const isEarlier = { [`${field}.revision`]: { $not: { $gte: delivery.revision } } };
      await updateOne({ _id: id, ...isNotDeleted, ...isEarlier }, { $set: { [field]: delivery } });
    },
    async outdateWords(id) {
      await updateOne({ _id: id, ...isNotDeleted }, { $set: { wordsRules: -1 }, $inc: { wordsRevision: 1 } });
    },
    outdatedIds: (after, limit) =>
      storeCall(async () => {
        const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit } as const;
        return (await tickets.find({ _id: { $gt: after }, ...isOutdated }, options).toArray()).map(({ _id }) => _id);
      }),
    findOutdated: (id) =>
      storeCall(async () => {
        const { wordsRevision: _, ...projection } = excludedFromReads;
        const found = await tickets.findOne({ _id: id, ...isOutdated }, { projection });
        if (!found) return undefined;
        const stored = found.deletedAt === undefined ? storedTicket(found) : undefined;
        return { id, version: found.version, revision: found.wordsRevision ?? null, stored };
      }),
    setWords: ({ id, version, revision }, words) =>
      updateOne(
        { _id: id, version, wordsRevision: revision },
        words ? { $set: { ...words, wordsRules } } : { $set: { wordsRules }, $unset: erasedWords },
      ),
    erase: (ticket, event, at) =>
      change({ id: ticket.id, version: event.version, after: undefined }, () =>
        updateOne(isUnchanged(ticket, undefined), {
          $set: { version: event.version, deletedAt: at, notErasedBy: [...ownersOfTicketData] },
          $unset: Object.fromEntries(erasedFields.map((name) => [name, 1])),
          ...outboxPush(event),
        }),
      ),
  };
}

/** A process of an earlier version that deletes a ticket leaves the words that it does not know. */
const erasedWords = { words: 1, messageWords: 1, noteWords: 1, wordBytes: 1 };

/** Matches documents whose words were made by earlier rules, or are outdated. */
export const isOutdated: Query = { $or: [{ wordsRules: null }, { wordsRules: { $lt: wordsRules } }] };

/** The server sends at most 16 MiB at a time, so not much more than `maxBytes` is read. */
async function findSome(tickets: TicketCollection, ids: readonly number[], maxBytes: number): Promise<FoundTickets> {
  const options = { projection: excludedFromReads, sort: { _id: 1 }, raw: true, batchSize: ids.length + 1 } as const;
  const cursor = tickets.find({ _id: { $in: [...ids] }, ...isNotDeleted }, options);
  const found: StoredTicket[] = [];
  let bytes = 0;
  try {
    while (await cursor.hasNext()) {
      for (const document of cursor.readBufferedDocuments() as unknown as Uint8Array[]) {
        if (found.length > 0 && bytes + document.length > maxBytes) {
          const lastId = found.at(-1)?.ticket.id ?? 0;
          return { tickets: found, bytes, remainingIds: ids.filter((id) => id > lastId) };
        }
        bytes += document.length;
        found.push(storedTicket(readDocument(document)));
      }
    }
  } finally {
    await cursor.close();
  }
  return { tickets: found, bytes, remainingIds: [] };
}

/**
 * Matches the ticket in the version that was read, which a deleted ticket no longer has, unless another bulk has
 * reserved it.
 */
function isUnchanged({ id, version }: TicketState, bulkId: string | undefined): Query {
  return { _id: id, version, reservedBy: bulkId === undefined ? null : { $in: [null, bulkId] } };
}

/** Matches the ticket if the message of a step is still what the step expects. */
function hasMessage({ added, published, removed }: ConversationStep = {}): Query {
  if (added !== undefined) return { conversationIds: { $ne: added } };
  if (published !== undefined) return { draftIds: published };
  return removed === undefined ? {} : { conversationIds: removed };
}
