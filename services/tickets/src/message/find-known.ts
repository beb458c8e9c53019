import type { Context } from '../context.ts';
import { foldedAddress } from '../ticket/rules/addresses.ts';
import type { MessageReference } from './external-id-store.ts';

/** Finds the message that has an external id, if it is part of its ticket. */
export async function findKnownMessage(
  context: Context,
  externalId: string | null | undefined,
): Promise<MessageReference | undefined> {
  if (externalId === null || externalId === undefined) return undefined;
  const [claimed] = await context.externalMessageIds.find([externalId]);
  return claimed && (await isPartOfTicket(context, claimed)) ? claimed : undefined;
}

/** Whether a message is part of its ticket. */
export async function isPartOfTicket(context: Context, { ticketId, conversationId }: MessageReference) {
  const messages = await context.tickets.findMessages(ticketId);
  return (
    messages !== undefined &&
    (messages.openingMessageId === conversationId || messages.conversationIds.includes(conversationId))
  );
}

/** Whether an address is the sender of a message. Case is ignored. */
export async function isSentBy(context: Context, { ticketId, conversationId }: MessageReference, address: string) {
  // The first message of most tickets is the ticket itself.
  const stored = (await context.conversations.find(conversationId))?.conversation;
  const from = (stored ?? (await context.tickets.find(ticketId))?.ticket)?.from ?? null;
  return from !== null && foldedAddress(from) === foldedAddress(address);
}
