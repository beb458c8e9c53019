import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import type { TicketMessages } from '../ticket/store/store.ts';
import type { MessageReference } from './external-id-store.ts';
import type { StoredConversation } from './store.ts';

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
  context: Pick<Context, 'tickets' | 'conversations'>,
  { ticketId, conversationId }: MessageReference,
): Promise<FoundConversation> {
  // The ticket is read last: it may get the message between the two reads, but not lose one that was found.
  const stored = await context.conversations.find(conversationId);
  const messages = await context.tickets.findMessages(ticketId);
  if (!messages) throw notFound('Ticket');
  const isDraft = messages.draftIds.includes(conversationId);
  if (stored && (isDraft || messages.conversationIds.includes(conversationId))) return { messages, isDraft, stored };
  if (messages.openingMessageId !== conversationId) throw notFound('Conversation');
  return { messages, isDraft: false, stored: undefined };
}
