import { foldedAddress } from '../ticket/rules/addresses.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { ExternalMessageIdStore, MessageReference } from './external-id-store.ts';
import type { ConversationStore } from './store.ts';

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
