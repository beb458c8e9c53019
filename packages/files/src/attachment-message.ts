import type { Attachment } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { AttachmentState } from './attachment.ts';

/** Returns the messages of attachments. `path` names the resource under which clients find them, for example `/ticket/1`. */
export function attachmentMessages(path: string, attachments: readonly AttachmentState[]): Attachment[] {
  return attachments.map((attachment) => attachmentMessage(path, attachment));
}

function attachmentMessage(
  path: string,
  { id, name, size, contentType, fileEnding, inline, contentId, width, height, createdAt }: AttachmentState,
): Attachment {
  return {
    $typeName: 'ticketing.tickets.v1.Attachment',
    ...{ id, name, size, contentType, inline },
    url: `${path}/attachment/${id}`,
    createdAt: toTimestamp(createdAt),
    ...(contentId ? { contentId } : {}),
    ...(fileEnding === null ? {} : { fileEnding }),
    ...(width === null ? {} : { width }),
    ...(height === null ? {} : { height }),
  };
}
