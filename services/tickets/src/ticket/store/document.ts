import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { firstInOutbox, outboxPush } from '@ticketing/events/outbox/outbox.ts';
import { compileObject, type Source } from '@ticketing/store/document/compile-object.ts';
import { documentReader } from '@ticketing/store/document/document-reader.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import type { ResponseSubject } from '@ticketing/store/idempotency/idempotency-store.ts';
import type { ConversationStep, RecordedChange } from '../rules/decision.ts';
import type { TicketEvent } from '../rules/event.ts';
import { type TicketFieldName, type TicketState, ticketField, ticketFieldNames } from '../rules/fields.ts';
import { queueKeys, toQueueGroup } from '../rules/queue-keys.ts';
import type { WorkedOn, WorkedOnChange } from '../rules/worked-on.ts';
import type { AppliedRequest, TicketDocument } from './schema.ts';

/** A ticket as it is stored, with the internal fields of its document. */
export interface StoredTicket {
  ticket: TicketState;
  workedOn: readonly WorkedOn[];
  /** The requests that were applied to it and may be repeated. */
  appliedRequests: readonly AppliedRequest[];
  /** The bulk that has reserved it. */
  reservedBy: string | null;
  /** How many entries its worklog has had. */
  manualWorkEntries: number;
  /** Its messages that are not drafts, and its drafts, by id. A list of tickets does not read them. */
  conversationIds: readonly number[];
  draftIds: readonly number[];
}

/** Refers to a ticket as the subject of a stored response, which may not be sent again after the ticket is deleted. */
export const ticketSubject = (id: number): ResponseSubject => ({ kind: 'Ticket', id });

/** A ticket that has just been created. */
export function newStoredTicket(ticket: TicketState): StoredTicket {
  return {
    ticket,
    workedOn: [],
    appliedRequests: [],
    reservedBy: null,
    manualWorkEntries: 0,
    conversationIds: [],
    draftIds: [],
  };
}

/** The projection that excludes the fields which no read of a ticket needs. */
export const excludedFromReads = {
  words: 0,
  messageWords: 0,
  noteWords: 0,
  wordsRules: 0,
  outbox: 0,
  outboxSince: 0,
  unsent: 0,
  worklog: 0,
  queueGroup: 0,
  queueKeys: 0,
};

/** Decodes a document from the bytes of the database. */
export const readDocument = documentReader<TicketDocument>([
  ...['_id', ...ticketFieldNames, 'minTagId', 'minAiAgentId'],
  ...['workedOn', 'manualWorkEntries', 'appliedRequests', 'reservedBy', 'conversationIds', 'draftIds', 'deletedAt'],
]);

export function storedTicket(document: TicketDocument): StoredTicket {
  const workedOn = Object.entries(document.workedOn).map(([id, at]) => ({
    profileId: Number(id),
    at: at.getTime() / 1000,
  }));
  return {
    ticket: fromDocument(document),
    workedOn,
    appliedRequests: document.appliedRequests ?? [],
    reservedBy: document.reservedBy,
    manualWorkEntries: document.manualWorkEntries,
    conversationIds: document.conversationIds ?? [],
    draftIds: document.draftIds ?? [],
  };
}

/** The data that is stored with a new ticket. */
export interface NewTicketParts {
  event: TicketEvent;
  /** The request that creates it, if it may be repeated. */
  appliedRequest?: AppliedRequest | undefined;
  /** The messages that it has from the beginning, by id. */
  conversationIds?: number[];
}

/** The document of a new ticket with its search words. */
export function toDocument(
  ticket: TicketState,
  words: string[],
  { event, appliedRequest, conversationIds = [] }: NewTicketParts,
): TicketDocument {
  return {
    _id: ticket.id,
    ...storedFields(ticket, ticketFieldNames),
    ...orderFields(ticket),
    words,
    messageWords: [],
    noteWords: [],
    wordsRules,
    version: ticket.version,
    workedOn: {},
    manualWorkEntries: 0,
    worklog: [],
    appliedRequests: appliedRequest === undefined ? [] : [appliedRequest],
    reservedBy: null,
    conversationIds,
    draftIds: [],
    ...firstInOutbox(event),
  };
}

/** The fields of the ticket of a document. A field that was not read from the database has its initial value. */
const fromDocument: (document: TicketDocument) => TicketState = compileObject<TicketState>([
  ['id', { input: 'first', name: '_id' }],
  ...ticketFieldNames.map((name): [string, Source] => [name, { input: 'first', name, read: ticketField(name).load }]),
]);

/**
 * The number of the rules by which this version makes the search words of tickets: a higher one makes those of all tickets
 * again.
 */
export const wordsRules = 1;

/** The fields that the full text search covers. The longest text is last, so that the words of the others always count. */
const searched = [
  ...(['externalTicketId', 'callerNumber', 'customerId', 'contractId', 'from', 'fromName'] as const),
  ...(['subject', 'summary', 'bodyPlain'] as const),
];

const searchedOfOutgoing = ['to', 'cc', 'bcc'] as const;

/** The texts of whose words the search words of a ticket are made. */
export function searchedTexts(ticket: TicketState): (string | number | null)[] {
  const recipients = ticket.direction === Direction.OUT ? searchedOfOutgoing.flatMap((name) => ticket[name]) : [];
  return [ticket.id, ...recipients, ...searched.map((name) => ticket[name])];
}

const isSearched: ReadonlySet<TicketFieldName> = new Set([...searched, ...searchedOfOutgoing]);

/** Whether a change of these fields changes the search words. */
export function areSearched(changed: readonly TicketFieldName[]): boolean {
  return changed.some((name) => isSearched.has(name));
}

/**
 * The fields of the document that a change sets: the changed ones in their stored form, and those that follow from
 * them, apart from the search words.
 */
function changedDocument(after: TicketState, changed: readonly TicketFieldName[]): Record<string, unknown> {
  return { ...storedFields(after, [...changed, 'version', 'modifiedAt']), ...orderFields(after) };
}

export function storedFields(ticket: TicketState, names: readonly TicketFieldName[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, ticketField(name).store(ticket[name])]));
}

function orderFields(ticket: TicketState) {
  return {
    minTagId: smallest(ticket.tagIds),
    minAiAgentId: smallest(ticket.aiAgentIds),
    queueGroup: toQueueGroup(ticket),
    queueKeys: queueKeys(ticket),
  };
}

function smallest(ids: readonly number[]): number | null {
  return ids.length === 0 ? null : Math.min(...ids);
}

/** The fields that a deletion removes from the document. */
export const erasedFields: readonly string[] = [
  ...ticketFieldNames.filter((name) => name !== 'version'),
  ...['minTagId', 'minAiAgentId', 'queueGroup', 'queueKeys', 'words', 'messageWords', 'noteWords'],
  ...['workedOn', 'manualWorkEntries', 'worklog', 'appliedRequests', 'reservedBy', 'conversationIds', 'draftIds'],
];

/** A change of a ticket, with all that is stored in the same write. */
export interface TicketUpdate {
  before: StoredTicket;
  change: RecordedChange;
  workedOn?: WorkedOnChange | undefined;
  /** The request that makes the change, if it may be repeated. */
  appliedRequest?: AppliedRequest | undefined;
  /** The message that becomes part of the ticket with the change, or no longer is. */
  conversation?: ConversationStep | undefined;
  /** The bulk that makes the change; its reservation of the ticket ends with it. */
  bulkId?: string | undefined;
}

const keptAppliedRequests = 1000;
const keptAppliedRequestsMs = 24 * 60 * 60 * 1000;
const keptWorklogEntries = 1000;

/** The search words that a change sets, and those that it adds for a message. */
export interface ChangedWords {
  own?: string[] | undefined;
  added?: readonly string[];
}

/** The update of the document that makes a change. */
export function documentUpdate(
  { before, change, workedOn, appliedRequest, bulkId, conversation = {} }: TicketUpdate,
  { own, added = [] }: ChangedWords,
): Query {
  const { after, changed, event, worklogEntry } = change;
  const { $push, $min } = outboxPush(event);
  const { $set: workedOnSet = {}, $unset = undefined } = workedOn ? workedOnUpdate(workedOn) : {};
  const worklogDocument = worklogEntry && { ...worklogEntry, at: new Date(worklogEntry.at * 1000) };
  return {
    $set: {
      ...changedDocument(after, changed),
      ...(own ? { words: own } : {}),
      ...(isOutdating(conversation) ? { wordsRules: -1 } : {}),
      ...workedOnSet,
      ...(appliedRequest ? { appliedRequests: withAppliedRequest(before.appliedRequests, appliedRequest) } : {}),
      ...(bulkId === undefined ? {} : { reservedBy: null }),
    },
    ...($unset ? { $unset } : {}),
    ...(worklogDocument ? { $inc: { manualWorkEntries: 1 } } : {}),
    $min,
    ...pullMessage(conversation),
    $push: {
      ...$push,
      ...pushMessage(conversation),
      ...(added.length > 0 ? { [wordsField(conversation)]: { $each: added } } : {}),
      ...(worklogDocument ? { worklog: { $each: [worklogDocument], $slice: -keptWorklogEntries } } : {}),
    },
  };
}

/** Whether a step leaves words of its message in the ticket that the message no longer has. */
const isOutdating = ({ changed, removed }: ConversationStep) => changed !== undefined || removed !== undefined;

/** The search words of a ticket. */
export type TicketWords = Pick<TicketDocument, 'words' | 'messageWords' | 'noteWords'>;

/** The fields with the words of messages. */
type MessageWordsField = Exclude<keyof TicketWords, 'words'>;

/** The field with the words of a message. */
export function wordsField({ isNote }: Pick<ConversationStep, 'isNote'>): MessageWordsField {
  return isNote ? 'noteWords' : 'messageWords';
}

/** How many different words of its messages, and of its notes, a ticket has: those of the first ones. */
export const maxWordsOf: Readonly<Record<MessageWordsField, number>> = { messageWords: 5000, noteWords: 2000 };

/** The words of a message that a field does not have yet, and has room for. */
export function addedWords(field: MessageWordsField, present: readonly string[], words: readonly string[]): string[] {
  const known = new Set(present);
  return words.filter((word) => !known.has(word)).slice(0, maxWordsOf[field] - known.size);
}

function pushMessage({ added, published }: ConversationStep): Query {
  const id = added ?? published;
  return id === undefined ? {} : { conversationIds: id };
}

function pullMessage({ published, removed }: ConversationStep): Query {
  if (published !== undefined) return { $pull: { draftIds: published } };
  return removed === undefined ? {} : { $pull: { conversationIds: removed } };
}

/** The update of the document that changes who works on a ticket. */
export function workedOnUpdate({ added, removedIds }: WorkedOnChange): { $set?: Query; $unset?: Query } {
  const path = (id: number) => `workedOn.${id}`;
  return {
    ...(added ? { $set: { [path(added.profileId)]: new Date(added.at * 1000) } } : {}),
    ...(removedIds.length === 0 ? {} : { $unset: Object.fromEntries(removedIds.map((id) => [path(id), 1])) }),
  };
}

/**
 * The requests that were applied within the last day, with one added. The list can be written as a whole, because the
 * update requires the version that was read.
 */
function withAppliedRequest(earlier: readonly AppliedRequest[], request: AppliedRequest): AppliedRequest[] {
  const since = request.at.getTime() - keptAppliedRequestsMs;
  return [...earlier.filter(({ at }) => at.getTime() > since), request].slice(-keptAppliedRequests);
}
