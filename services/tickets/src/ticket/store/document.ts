import { firstInOutbox, outboxPush } from '@ticketing/events/outbox/outbox.ts';
import { compileObject, type Source } from '@ticketing/store/document/compile-object.ts';
import { documentReader } from '@ticketing/store/document/document-reader.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import type { ResponseSubject } from '@ticketing/store/idempotency/idempotency-store.ts';
import type { ConversationStep, RecordedChange } from '../rules/decision.ts';
import type { TicketEvent } from '../rules/event.ts';
import { type TicketFieldName, type TicketState, ticketField, ticketFieldNames } from '../rules/fields.ts';
import type { MessageDelivery } from '../rules/intent.ts';
import { queueKeys, toQueueGroup } from '../rules/queue-keys.ts';
import { type MessageWords, noWords, type WordBytes, wordsRules, wordsWithRoom } from '../rules/search-words.ts';
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
  /** The deliveries of the messages of executions, by the ids of the messages. */
  deliveries: Readonly<Record<string, MessageDelivery>>;
  /** For how many bytes of search words its messages and its notes are charged. */
  wordBytes: Readonly<WordBytes>;
  /** Whether it may have assistant sessions; undefined: not known. */
  hasSessions: boolean | undefined;
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
    deliveries: {},
    wordBytes: noWords,
    hasSessions: false,
  };
}

/** The projection that excludes the fields which no read of a ticket needs. */
export const excludedFromReads = {
  words: 0,
  messageWords: 0,
  noteWords: 0,
  wordsRules: 0,
  wordsRevision: 0,
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
  ...['wordBytes', 'deliveries', 'hasSessions'],
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
    deliveries: document.deliveries ?? {},
    wordBytes: document.wordBytes ?? noWords,
    hasSessions: document.hasSessions,
  };
}

/** The data that is stored with a new ticket. */
export interface NewTicketParts {
  event: TicketEvent;
  /** The request that creates it, if it may be repeated. */
  appliedRequest?: AppliedRequest | undefined;
  /** Its first message, by id, if that is stored apart. */
  conversationIds?: readonly number[];
  /** The changes that are stored with it. */
  changes?: readonly FirstChange[];
}

/** A change of a ticket that is stored with it: a message that it has from the beginning. */
export type FirstChange = Pick<TicketUpdate, 'change' | 'appliedRequest' | 'conversation'>;

/**
 * The document of a new ticket, as the changes leave it, with its search words; `ofFirst` are those of its first message if
 * that is stored apart.
 */
export function toDocument(
  ticket: TicketState,
  words: string[],
  { event, appliedRequest, conversationIds = [], changes = [] }: NewTicketParts,
  ofFirst?: MessageWords,
): TicketDocument {
  const added = changes.flatMap(({ conversation }) => conversation?.added ?? []);
  return {
    _id: ticket.id,
    ...storedFields(ticket, ticketFieldNames),
    ...orderFields(ticket),
    words,
    ...collectWords([ofFirst, ...changes.map(({ conversation }) => conversation?.words)]),
    wordsRules,
    version: ticket.version,
    workedOn: {},
    manualWorkEntries: 0,
    worklog: [],
    appliedRequests: [appliedRequest, ...changes.map((one) => one.appliedRequest)].filter((one) => one !== undefined),
    reservedBy: null,
    conversationIds: [...conversationIds, ...added],
    draftIds: [],
    hasSessions: false,
    ...firstInOutbox(event, ...changes.map(({ change }) => change.event)),
  };
}

/** The search words of messages, as far as there is room for them. */
function collectWords(
  messages: readonly (MessageWords | undefined)[],
): Pick<TicketDocument, 'messageWords' | 'noteWords' | 'wordBytes'> {
  const words = { messageWords: new Set<string>(), noteWords: new Set<string>() };
  const wordBytes = { ...noWords };
  for (const found of messages) {
    if (!found) continue;
    for (const word of wordsWithRoom(wordBytes, found)) words[found.field].add(word);
    wordBytes[found.field] += found.bytes;
  }
  return { messageWords: [...words.messageWords], noteWords: [...words.noteWords], wordBytes };
}

/** The fields of the ticket of a document. A field that was not read from the database has its initial value. */
const fromDocument: (document: TicketDocument) => TicketState = compileObject<TicketState>([
  ['id', { input: 'first', name: '_id' }],
  ...ticketFieldNames.map((name): [string, Source] => [name, { input: 'first', name, read: ticketField(name).load }]),
]);

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
  ...[
    'minTagId',
    'minAiAgentId',
    'queueGroup',
    'queueKeys',
    'words',
    'messageWords',
    'noteWords',
    'wordBytes',
    'wordsRevision',
  ],
  ...['workedOn', 'manualWorkEntries', 'worklog', 'appliedRequests', 'reservedBy', 'conversationIds', 'draftIds'],
  ...['deliveries', 'hasSessions'],
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

/** The update of the document that makes a change. `words` are the search words of the ticket itself, if they change. */
export function documentUpdate(
  { before, change, workedOn, appliedRequest, bulkId, conversation = {} }: TicketUpdate,
  words: string[] | undefined,
): Query {
  const { after, changed, event, worklogEntry } = change;
  const { $push, $min } = outboxPush(event);
  const { $set: workedOnSet = {}, $unset = undefined } = workedOn ? workedOnUpdate(workedOn) : {};
  const worklogDocument = worklogEntry && { ...worklogEntry, at: new Date(worklogEntry.at * 1000) };
  const added = conversation.words ? wordsWithRoom(before.wordBytes, conversation.words) : [];
  const counts = {
    ...(worklogDocument ? { manualWorkEntries: 1 } : {}),
    ...(conversation.words ? { [`wordBytes.${conversation.words.field}`]: conversation.words.bytes } : {}),
  };
  return {
    $set: {
      ...changedDocument(after, changed),
      ...(words ? { words } : {}),
      ...(isOutdating(conversation) ? { wordsRules: -1 } : {}),
      ...workedOnSet,
      ...(appliedRequest ? { appliedRequests: withAppliedRequest(before.appliedRequests, appliedRequest) } : {}),
      ...(bulkId === undefined ? {} : { reservedBy: null }),
    },
    ...($unset ? { $unset } : {}),
    ...(Object.keys(counts).length > 0 ? { $inc: counts } : {}),
    ...(conversation.words && added.length > 0 ? { $addToSet: { [conversation.words.field]: { $each: added } } } : {}),
    $min,
    ...pullMessage(conversation),
    $push: {
      ...$push,
      ...pushMessage(conversation),
      ...(worklogDocument ? { worklog: { $each: [worklogDocument], $slice: -keptWorklogEntries } } : {}),
    },
  };
}

/** Whether a step leaves words of its message in the ticket that the message no longer has. */
const isOutdating = ({ changed, removed }: ConversationStep) => changed !== undefined || removed !== undefined;

/** The search words of a ticket. */
export type TicketWords = Pick<TicketDocument, 'words' | 'messageWords' | 'noteWords' | 'wordBytes'>;

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
