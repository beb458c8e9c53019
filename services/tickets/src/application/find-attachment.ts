import type { AttachmentState } from '../domain/attachment.ts';
import type { Context } from './context.ts';
import { attachmentNotFound } from './file-errors.ts';

/**
 * Finds an attachment of a ticket or of one of its messages.
 *
 * Errors: attachment_not_found, also if it belongs to another ticket.
 */
export async function findAttachment(
  context: Pick<Context, 'tickets'>,
  ticketId: number,
  attachmentId: string,
): Promise<AttachmentState> {
  const stored = await context.tickets.find(ticketId);
  const found = stored?.ticket.attachments.find(({ id }) => id === attachmentId);
  if (!found) throw attachmentNotFound();
  return found;
}
