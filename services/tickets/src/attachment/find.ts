import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { attachmentNotFound } from '@ticketing/files/file-errors.ts';
import { sweepFiles } from '@ticketing/files/sweep-files.ts';
import type { Context } from '../context.ts';

/** The files that a ticket lists itself, and those of its messages, drafts included. */
export interface ListedFiles {
  ofTicket: readonly AttachmentState[];
  ofMessages: readonly AttachmentState[];
}

type Stores = Pick<Context, 'tickets' | 'conversations'>;

/** Finds the files of a ticket and of its messages, or the one with an id; none if there is no such ticket. */
export async function listedFiles(
  { tickets, conversations }: Stores,
  ticketId: number,
  attachmentId?: string,
): Promise<ListedFiles> {
  // The ticket is read last: it may get a message between the two reads, but not lose one that was found.
  const found = await conversations.filesOf(ticketId, attachmentId);
  const stored = await tickets.findMessages(ticketId);
  if (!stored) return { ofTicket: [], ofMessages: [] };
  const ids = new Set([...stored.conversationIds, ...stored.draftIds]);
  return {
    ofTicket: stored.attachments,
    ofMessages: found.filter(({ id }) => ids.has(id)).flatMap(({ attachments }) => attachments),
  };
}

/**
 * Finds a file of a ticket or of one of its messages.
 *
 * Errors: attachment_not_found, also if it belongs to another ticket.
 */
export async function findAttachment(
  context: Stores,
  ticketId: number,
  attachmentId: string,
): Promise<{ attachment: AttachmentState; isOfTicket: boolean }> {
  const { ofTicket, ofMessages } = await listedFiles(context, ticketId, attachmentId);
  const attachment = [...ofTicket, ...ofMessages].find(({ id }) => id === attachmentId);
  if (!attachment) throw attachmentNotFound('Ticket');
  return { attachment, isOfTicket: ofTicket.includes(attachment) };
}

/** Checks the files that were written an hour ago, and removes files that neither ticket nor messages list. */
export async function sweepTicketFiles(context: Context): Promise<void> {
  await sweepFiles(context, async (ticketId) => {
    const { ofTicket, ofMessages } = await listedFiles(context, ticketId);
    return new Set([...ofTicket, ...ofMessages].map(({ key }) => key));
  });
}
