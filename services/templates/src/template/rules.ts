import type { AttachmentState } from '@ticketing/files/attachment.ts';

/** A stored response template. */
export interface TemplateState {
  id: number;
  /** Increases with every change by a request. */
  version: number;
  tagId: number | null;
  emailTemplateId: number | null;
  description: string;
  /** HTML and Handlebars. */
  message: string;
  /** Handlebars in plain text. */
  subject: string | null;
  exampleTicketIds: readonly number[];
  /** The files that are attached to each message that is written with it. */
  attachments: readonly AttachmentState[];
}

/** The fields that a request can change. */
export type TemplateChange = Partial<Omit<TemplateState, 'id' | 'version'>>;

/** The estimated bytes of an attachment in a response, without its name. */
const attachmentBytes = 400;

/** Returns the bytes of the texts of a template in UTF-8, and the estimated bytes of its list of files. */
export function templateBytes({ description, message, subject, attachments }: TemplateState): number {
  const texts = [description, message, subject ?? '', ...attachments.map(({ name }) => name)];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), attachments.length * attachmentBytes);
}
