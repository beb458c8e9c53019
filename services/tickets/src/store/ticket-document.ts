import { firstInOutbox } from '@ticketing/events/outbox/outbox.ts';
import { compileObject, type Source } from '@ticketing/store/compiled-object.ts';
import { queueGroupOf, queueKeys } from '../domain/queue-order.ts';
import type { TicketEvent } from '../domain/ticket-event.ts';
import { fieldOf, type TicketFieldName, type TicketState, ticketFieldNames } from '../domain/ticket-fields.ts';
import { wordsOf } from '../domain/words.ts';
import type { AppliedRequest, TicketDocument } from './ticket-model.ts';

/** The document of a new ticket, with its first event, and the request that made it if that may come twice. */
export function documentOf(ticket: TicketState, event: TicketEvent, effect?: AppliedRequest): TicketDocument {
  return {
    _id: ticket.id,
    ...storedFields(ticket, ticketFieldNames),
    ...orderFields(ticket),
    words: searchWords(ticket),
    version: ticket.version,
    workedOn: {},
    manualWorkEntries: 0,
    worklog: [],
    appliedRequests: effect === undefined ? [] : [effect],
    reservedBy: null,
    ...firstInOutbox(event),
  };
}

/** The ticket that a document holds. Fields that were not read have their first value. */
export const stateOf: (document: TicketDocument) => TicketState = compileObject<TicketState>([
  ['id', { input: 'first', name: '_id' }],
  ...ticketFieldNames.map((name): [string, Source] => [name, { input: 'first', name, read: fieldOf(name).load }]),
]);

/** Fields that are found by the full text search. */
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

/** What a change writes: the changed fields in their stored form, and what follows from them. */
export function changedDocument(after: TicketState, changed: readonly TicketFieldName[]): Record<string, unknown> {
  return {
    ...storedFields(after, [...changed, 'version', 'modifiedAt']),
    ...orderFields(after),
    ...(changed.some((name) => searched.includes(name)) ? { words: searchWords(after) } : {}),
  };
}

function storedFields(ticket: TicketState, names: readonly TicketFieldName[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, fieldOf(name).store(ticket[name])]));
}

function orderFields(ticket: TicketState) {
  return {
    minTagId: smallest(ticket.tagIds),
    minAiAgentId: smallest(ticket.aiAgentIds),
    queueGroup: queueGroupOf(ticket),
    queueKeys: queueKeys(ticket),
  };
}

function searchWords(ticket: TicketState): string[] {
  return wordsOf([ticket.id, ...searched.map((name) => ticket[name] as string | null)]);
}

function smallest(ids: readonly number[]): number | null {
  return ids.length === 0 ? null : Math.min(...ids);
}

/** The fields of a document that tell of its ticket: a deleted ticket has none of them. */
export const erasedFields: readonly string[] = [
  ...ticketFieldNames.filter((name) => name !== 'version'),
  ...['minTagId', 'minAiAgentId', 'queueGroup', 'queueKeys', 'words'],
  ...['workedOn', 'manualWorkEntries', 'worklog', 'appliedRequests', 'reservedBy'],
];
