import { firstInOutbox } from '@ticketing/events/outbox/outbox.ts';
import { compileObject, type Source } from '@ticketing/store/document/compile-object.ts';
import type { TicketEvent } from '../rules/event.ts';
import { type TicketFieldName, type TicketState, ticketField, ticketFieldNames } from '../rules/fields.ts';
import { queueKeys, toQueueGroup } from '../rules/queue-keys.ts';
import type { AppliedRequest, TicketDocument } from './schema.ts';

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
export const fromDocument: (document: TicketDocument) => TicketState = compileObject<TicketState>([
  ['id', { input: 'first', name: '_id' }],
  ...ticketFieldNames.map((name): [string, Source] => [name, { input: 'first', name, read: ticketField(name).load }]),
]);

/** The fields that the full text search covers. */
const searched: readonly TicketFieldName[] = [
  'subject',
  'summary',
  'bodyPlain',
  'from',
  'fromName',
  'externalTicketId',
  'customerId',
  'contractId',
];

/** The texts of whose words the search words of a ticket are made. */
export function searchedTexts(ticket: TicketState): (string | number | null)[] {
  return [ticket.id, ...searched.map((name) => ticket[name] as string | null)];
}

/** Whether a change of these fields changes the search words. */
export function areSearched(changed: readonly TicketFieldName[]): boolean {
  return changed.some((name) => searched.includes(name));
}

/**
 * The fields of the document that a change sets: the changed ones in their stored form, and those that follow from
 * them, apart from the search words.
 */
export function changedDocument(after: TicketState, changed: readonly TicketFieldName[]): Record<string, unknown> {
  return { ...storedFields(after, [...changed, 'version', 'modifiedAt']), ...orderFields(after) };
}

/** The stored form of some fields. */
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
  ...['minTagId', 'minAiAgentId', 'queueGroup', 'queueKeys', 'words'],
  ...['workedOn', 'manualWorkEntries', 'worklog', 'appliedRequests', 'reservedBy', 'conversationIds', 'draftIds'],
];
