import type { AttachmentState } from '@ticketing/files/attachment.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { attachmentNotFound } from '@ticketing/files/file-errors.ts';
import { sweepFiles } from '@ticketing/files/sweep-files.ts';
import type { ConversationStore } from '../message/store.ts';
import type { Commit } from '../ticket/commit.ts';
import type { TicketStore } from '../ticket/store/store.ts';

/** The dependencies of the handlers of attachments. */
export interface AttachmentDeps {
  tickets: Pick<TicketStore, 'findMessages'>;
  conversations: Pick<ConversationStore, 'findFiles' | 'removeAttachment'>;
  commit: Commit;
  attachments: FileContext;
}

/** The files that a ticket lists itself, and those of its messages, drafts included. */
interface ListedFiles {
  ofTicket: readonly AttachmentState[];
  ofMessages: readonly AttachmentState[];
}

type Stores = Pick<AttachmentDeps, 'tickets' | 'conversations'>;

/** Finds the files of a ticket and of its messages, or the one with an id; none if there is no such ticket. */
async function findListed(
  { tickets, conversations }: Stores,
  ticketId: number,
  attachmentId?: string,
): Promise<ListedFiles> {
  // The ticket is read last: it may get a message between the two reads, but not lose one that was found.
  const files = await conversations.findFiles(ticketId, attachmentId);
  const ticket = await tickets.findMessages(ticketId);
  if (!ticket) return { ofTicket: [], ofMessages: [] };
  const ids = new Set([...ticket.conversationIds, ...ticket.draftIds]);
  return {
    ofTicket: ticket.attachments,
    ofMessages: files.filter(({ id }) => ids.has(id)).flatMap(({ attachments }) => attachments),
  };
}

/**
 * Finds a file of a ticket or of one of its messages.
 *
 * Errors: attachment_not_found, also if it belongs to another ticket.
 */
export async function findAttachment(
  stores: Stores,
  ticketId: number,
  attachmentId: string,
): Promise<{ attachment: AttachmentState; isOfTicket: boolean }> {
  const { ofTicket, ofMessages } = await findListed(stores, ticketId, attachmentId);
  const attachment = [...ofTicket, ...ofMessages].find(({ id }) => id === attachmentId);
  if (!attachment) throw attachmentNotFound('Ticket');
  return { attachment, isOfTicket: ofTicket.includes(attachment) };
}

/** Checks the files that were written an hour ago, and removes files that neither ticket nor messages list. */
export async function sweepTicketFiles(deps: Pick<AttachmentDeps, keyof Stores | 'attachments'>): Promise<void> {
  await sweepFiles(deps.attachments, async (ticketId) => {
    const { ofTicket, ofMessages } = await findListed(deps, ticketId);
    return new Set([...ofTicket, ...ofMessages].map(({ key }) => key));
  });
}
