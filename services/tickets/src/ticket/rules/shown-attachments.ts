import type { AttachmentState } from '@ticketing/files/attachment.ts';

/** The attachments that a ticket shows: those that are not inside its text, and PDF files. */
export function shownAttachments(attachments: readonly AttachmentState[]): AttachmentState[] {
  return attachments.filter(({ inline, contentType }) => !inline || contentType === 'application/pdf');
}
