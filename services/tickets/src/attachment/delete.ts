import type {
  DeleteAttachmentRequest,
  DeleteAttachmentResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { releaseFiles, removeFiles } from '@ticketing/files/attach-files.ts';
import { attachmentNotFound } from '@ticketing/files/file-errors.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { eventHeaderFor } from '../event-header.ts';
import { decideFields } from '../ticket/rules/decision.ts';
import { type AttachmentDeps, findAttachment } from './find.ts';

/**
 * Deletes a file: its entry in the ticket or in the message, its content and its record.
 *
 * Errors: attachment_not_found, concurrent_change.
 * Source: docs/reference/api.md, Attachments.
 */
export async function deleteAttachment(
  deps: AttachmentDeps,
  call: Call,
  { ticketId, attachmentId }: DeleteAttachmentRequest,
): Promise<DeleteAttachmentResponse> {
  const { attachment, isOfTicket } = await findAttachment(deps, ticketId, attachmentId);
  // If this process dies after the next write, the sweeper removes the file.
  await releaseFiles(deps.attachments, [attachment]);
  if (isOfTicket) await removeFromTicket(deps, call, ticketId, attachmentId);
  // A first message that was sent as a mail lists the files of its ticket too.
  await deps.conversations.removeAttachment(ticketId, attachmentId);
  await removeFiles(deps.attachments, [attachment]);
  return { $typeName: 'ticketing.tickets.v1.DeleteAttachmentResponse', success: true };
}

async function removeFromTicket(
  { commit, attachments: { runtime } }: AttachmentDeps,
  call: Call,
  ticketId: number,
  attachmentId: string,
): Promise<void> {
  try {
    await commit({
      ticketId,
      decide({ ticket }) {
        const attachments = ticket.attachments.filter(({ id }) => id !== attachmentId);
        if (attachments.length === ticket.attachments.length) return {};
        return decideFields(ticket, { attachments }, secondsNow(runtime), eventHeaderFor({ runtime }, call));
      },
    });
  } catch (error) {
    throw error instanceof DomainError && error.code === 'not_found' ? attachmentNotFound('Ticket') : error;
  }
}
