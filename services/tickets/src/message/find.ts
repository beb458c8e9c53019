import { notFound } from '@ticketing/errors/domain-error.ts';
import { foldedAddress } from '../rules/addresses.ts';
import type { TicketMessages, TicketStore } from '../ticket/store/store.ts';
import type { ExternalMessageIdStore, MessageReference } from './external-id-store.ts';
import type { ConversationStore, StoredConversation } from './store.ts';

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
