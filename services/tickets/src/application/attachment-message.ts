import type { Attachment } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { timestampOf } from '@ticketing/rest/date-time.ts';
import type { AttachmentState } from '../domain/attachment.ts';

/** The messages of attachments of a ticket or of one of its messages. */
export function attachmentMessages(ticketId: number, attachments: readonly AttachmentState[]): Attachment[] {
  return attachments.map((attachment) => attachmentMessage(ticketId, attachment));
}

function attachmentMessage(
  ticketId: number,
  { id, name, size, contentType, fileEnding, inline, width, height, createdAt }: AttachmentState,
): Attachment {
  return {
    $typeName: 'ticketing.tickets.v1.Attachment',
    ...{ id, name, size, contentType, inline },
    url: `/ticket/${ticketId}/attachment/${id}`,
    createdAt: timestampOf(createdAt),
    ...(fileEnding === null ? {} : { fileEnding }),
    ...(width === null ? {} : { width }),
    ...(height === null ? {} : { height }),
  };
}
