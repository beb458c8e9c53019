import type {
  GetAttachmentRequest,
  GetAttachmentResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { sendFile } from '@ticketing/files/send-file.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { type AttachmentDeps, findAttachment } from './find.ts';

/**
 * Sends a file of a ticket or of one of its messages, or the part of it that the header `Range` names.
 *
 * Errors: attachment_not_found; range_not_satisfiable.
 * Source: docs/reference/api.md, Attachments.
 */
export async function* getAttachment(
  deps: AttachmentDeps,
  call: Call,
  { ticketId, attachmentId }: GetAttachmentRequest,
): AsyncGenerator<GetAttachmentResponse> {
  const { attachment } = await findAttachment(deps, ticketId, attachmentId);
  for await (const body of sendFile(deps.attachments, call, attachment)) {
    yield { $typeName: 'ticketing.tickets.v1.GetAttachmentResponse', body };
  }
}
