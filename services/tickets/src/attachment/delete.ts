import type {
  DeleteAttachmentRequest,
  DeleteAttachmentResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { releaseFiles, removeFiles } from '@ticketing/files/attach-files.ts';
import { attachmentNotFound } from '@ticketing/files/file-errors.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from '../ticket/event-header.ts';
import { decideFields } from '../ticket/rules/decision.ts';
import { findAttachment } from './find.ts';

/**
 * Deletes a file: its entry in the ticket or in the message, its content and its record.
 *
 * Errors: attachment_not_found, concurrent_change.
 * Source: docs/reference/api.md, Attachments.
 */
export async function deleteAttachment(
  context: Context,
  call: Call,
  { ticketId, attachmentId }: DeleteAttachmentRequest,
): Promise<DeleteAttachmentResponse> {
  const { attachment, isOfTicket } = await findAttachment(context, ticketId, attachmentId);
  // If this process dies after the next write, the sweeper removes the file.
  await releaseFiles(context, [attachment]);
  if (isOfTicket) await removeFromTicket(context, call, ticketId, attachmentId);
  // A first message that was sent as a mail lists the files of its ticket too.
  await context.conversations.removeAttachment(ticketId, attachmentId);
  await removeFiles(context, [attachment]);
  return { $typeName: 'ticketing.tickets.v1.DeleteAttachmentResponse', success: true };
}

async function removeFromTicket(context: Context, call: Call, ticketId: number, attachmentId: string): Promise<void> {
  try {
    await context.commit({
      ticketId,
      decide({ ticket }) {
        const attachments = ticket.attachments.filter(({ id }) => id !== attachmentId);
        if (attachments.length === ticket.attachments.length) return {};
        return decideFields(ticket, { attachments }, context.now(), eventHeaderOf(context, call));
      },
    });
  } catch (error) {
    throw error instanceof DomainError && error.code === 'not_found' ? attachmentNotFound('Ticket') : error;
  }
}
