import type {
  GetAttachmentRequest,
  GetAttachmentResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { bodyHead, bodyPiece } from '@ticketing/rest/http-body.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { findAttachment } from '../application/find-attachment.ts';
import { downloadOf } from '../domain/download.ts';

/**
 * Sends a file of a ticket or of one of its messages, or the part of it that the header `Range` names.
 *
 * Errors: attachment_not_found; range_not_satisfiable.
 * Source: docs/reference/api.md, Attachments.
 */
export async function* getAttachment(
  context: Context,
  call: Call,
  { ticketId, attachmentId }: GetAttachmentRequest,
): AsyncGenerator<GetAttachmentResponse> {
  const { attachment } = await findAttachment(context, ticketId, attachmentId);
  const download = downloadOf(attachment, {
    range: call.header('range'),
    ifRange: call.header('if-range'),
    ifNoneMatch: call.header('if-none-match'),
  });
  if (!download) {
    call.setResponseHeader('content-range', `bytes */${attachment.size}`);
    throw new DomainError('out_of_range', 'range_not_satisfiable', `The file has ${attachment.size} bytes.`);
  }
  const { status, headers, range } = download;
  yield responseOf(bodyHead(attachment.contentType, headers, status));
  const pieces = context.files.read(attachment.key, range)[Symbol.asyncIterator]();
  try {
    for (;;) {
      // A slot is held while a piece is read, not while its client takes its time.
      const piece = await context.fileReads.run(callerKey(call.caller), () => pieces.next());
      if (piece.done) return;
      yield responseOf(bodyPiece(piece.value));
    }
  } finally {
    await pieces.return?.();
  }
}

function responseOf(body: GetAttachmentResponse['body'] & object): GetAttachmentResponse {
  return { $typeName: 'ticketing.tickets.v1.GetAttachmentResponse', body };
}
