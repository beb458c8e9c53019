import { DomainError, notFound, type Violation } from '@ticketing/errors/domain-error.ts';
import { type Caller, callerKey, hasRight, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { foldedAddress } from '../rules/mail-headers.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import type { TicketMessages, TicketStore } from '../ticket/store/store.ts';
import type { ExternalMessageIdStore, MessageReference } from './external-id-store.ts';
import type { ConversationState } from './rules/fields.ts';
import type { ConversationStore, StoredConversation } from './store.ts';

const noteRight = 'updateTechnicalTicketFields';

/**
 * Checks that the caller may change or delete a private note: it is the statement of its author.
 *
 * Errors: not_the_author. Source: docs/reference/api.md, Conversations.
 */
export function requireNoteRight(
  caller: Caller,
  { agentId, authorKey }: Pick<ConversationState, 'agentId' | 'authorKey'>,
): void {
  // Notes of earlier versions have no key of their author.
  const isAuthor =
    authorKey === null ? isHuman(caller) && agentId === caller.profileId : authorKey === callerKey(caller);
  if (isAuthor || hasRight(caller, noteRight)) return;
  const detail = `Only its author, an admin or a holder of the right ${noteRight} may change or delete a private note.`;
  throw new DomainError('permission_denied', 'not_the_author', detail);
}

/** The error for a change of a message that is neither a draft nor a private note. */
export function messageWasSent(): DomainError {
  const detail = 'Only a draft or a private note can be changed or deleted.';
  return new DomainError('failed_precondition', 'message_was_sent', detail);
}

/** The violations in the intents that a message is about: they must be intents of its ticket. */
export function intentViolations(intentIds: readonly number[], { intents }: Pick<TicketState, 'intents'>): Violation[] {
  const known = new Set(intents.map(({ id }) => id));
  return intentIds.flatMap((id, index) => {
    const detail = `the ticket has no intent ${id}`;
    return known.has(id) ? [] : [{ pointer: `#/intentIds/${index}`, code: 'unknown_intent', detail }];
  });
}

/** The violation in `send` of a request that does not publish a message: whether a draft is sent is decided then. */
export function sendViolations(isPublished: boolean, send: boolean | undefined): Violation[] {
  if (isPublished || send === undefined) return [];
  return [{ pointer: '#/send', code: 'not_allowed', detail: 'is for the publishing of a draft' }];
}

/** A message of a ticket. */
export interface FoundConversation {
  messages: TicketMessages;
  isDraft: boolean;
  /** Undefined for the first message of a ticket, which is the body of the ticket. */
  stored: StoredConversation | undefined;
}

/**
 * Finds a message of a ticket.
 *
 * Errors: ticket_not_found; conversation_not_found, also for a message of another ticket.
 */
export async function findConversation(
  { tickets, conversations }: { tickets: Pick<TicketStore, 'findMessages'>; conversations: ConversationStore },
  { ticketId, conversationId }: MessageReference,
): Promise<FoundConversation> {
  // The ticket is read last: it may get the message between the two reads, but not lose one that was found.
  const stored = await conversations.find(conversationId);
  const messages = await tickets.findMessages(ticketId);
  if (!messages) throw notFound('Ticket');
  const isDraft = messages.draftIds.includes(conversationId);
  if (stored && (isDraft || messages.conversationIds.includes(conversationId))) return { messages, isDraft, stored };
  if (messages.openingMessageId !== conversationId) throw notFound('Conversation');
  return { messages, isDraft: false, stored: undefined };
}

/** Finds the message that has an external id, if it is part of its ticket. */
export async function findKnownMessage(
  deps: { tickets: Pick<TicketStore, 'findMessages'>; externalMessageIds: Pick<ExternalMessageIdStore, 'find'> },
  externalId: string | null | undefined,
): Promise<MessageReference | undefined> {
  if (externalId === null || externalId === undefined) return undefined;
  const [claimed] = await deps.externalMessageIds.find([externalId]);
  return claimed && (await isPartOfTicket(deps, claimed)) ? claimed : undefined;
}

/** Whether a message is part of its ticket. */
export async function isPartOfTicket(
  { tickets }: { tickets: Pick<TicketStore, 'findMessages'> },
  { ticketId, conversationId }: MessageReference,
): Promise<boolean> {
  const messages = await tickets.findMessages(ticketId);
  return (
    messages !== undefined &&
    (messages.openingMessageId === conversationId || messages.conversationIds.includes(conversationId))
  );
}

/** Whether an address is the sender of a message. Case is ignored. */
export async function isSentBy(
  { tickets, conversations }: { tickets: Pick<TicketStore, 'find'>; conversations: ConversationStore },
  { ticketId, conversationId }: MessageReference,
  address: string,
): Promise<boolean> {
  // The first message of most tickets is the ticket itself.
  const stored = (await conversations.find(conversationId))?.conversation;
  const from = (stored ?? (await tickets.find(ticketId))?.ticket)?.from ?? null;
  return from !== null && foldedAddress(from) === foldedAddress(address);
}
