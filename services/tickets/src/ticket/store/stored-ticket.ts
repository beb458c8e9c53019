import { documentReader } from '@ticketing/store/document/document-reader.ts';
import type { ResponseSubject } from '@ticketing/store/idempotency/idempotency-store.ts';
import { type TicketState, ticketFieldNames } from '../rules/fields.ts';
import type { WorkedOn } from '../rules/worked-on.ts';
import { fromDocument } from './document.ts';
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

/** The ticket of a document. */
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
