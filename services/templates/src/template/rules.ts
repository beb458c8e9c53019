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

/** A stored e-mail template: what surrounds a message in a mail. */
export interface EmailTemplateState {
  id: number;
  name: string;
  /** HTML and Handlebars, with `%MESSAGE%` where the message is inserted. */
  template: string;
}

/** About how many bytes the rest of an attachment has in a response, beside its name. */
const attachmentBytes = 400;

/** The bytes of a template in UTF-8: of its texts, and about those of its list of files. */
export function templateBytes({ description, message, subject, attachments }: TemplateState): number {
  const texts = [description, message, subject ?? '', ...attachments.map(({ name }) => name)];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), attachments.length * attachmentBytes);
}
