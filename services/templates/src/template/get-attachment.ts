import type {
  GetTemplateAttachmentRequest,
  GetTemplateAttachmentResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { attachmentNotFound } from '@ticketing/files/file-errors.ts';
import { sendFile } from '@ticketing/files/send-file.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { TemplateParts } from './open.ts';

/**
 * Sends a file of a response template, or the part of it that the header `Range` names.
 *
 * Errors: attachment_not_found; range_not_satisfiable.
 * Source: docs/reference/api.md, Attachments.
 */
export async function* getTemplateAttachment(
  parts: TemplateParts,
  call: Call,
  { id, attachmentId }: GetTemplateAttachmentRequest,
): AsyncGenerator<GetTemplateAttachmentResponse> {
  const attachment = (await parts.templates.readFiles(id)).find((file) => file.id === attachmentId);
  if (!attachment) throw attachmentNotFound('Template');
  for await (const body of sendFile(parts.files, call, attachment)) {
    yield { $typeName: 'ticketing.templates.v1.GetTemplateAttachmentResponse', body };
  }
}
