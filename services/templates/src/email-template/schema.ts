import { type Connection, type Model, Schema } from 'mongoose';
import type { EmailTemplateState } from './rules.ts';

/** The document of an e-mail template. */
export type EmailTemplateDocument = Omit<EmailTemplateState, 'id'> & {
  _id: number;
  /** The name in lower case (NFKC), which is unique. */
  foldedName: string;
  /** The size of its text in UTF-8. */
  bytes: number;
};

const schema = new Schema(
  { _id: Number, name: String, foldedName: String, template: String, bytes: Number },
  { versionKey: false, strict: 'throw', minimize: false, collection: 'emailTemplates' },
);
schema.index({ foldedName: 1 }, { unique: true });

/** Opens the model of the e-mail templates on a connection. */
export function emailTemplateModel(connection: Connection): Model<EmailTemplateDocument> {
  return connection.model<EmailTemplateDocument>('EmailTemplate', schema as unknown as Schema<EmailTemplateDocument>);
}

/** Converts fields to those of the document. Names that differ only in case count as equal. */
export function toFields({ name, template }: Partial<EmailTemplateState>): Partial<EmailTemplateDocument> {
  return {
    ...(name === undefined ? {} : { name, foldedName: name.normalize('NFKC').toLowerCase() }),
    ...(template === undefined ? {} : { template, bytes: Buffer.byteLength(template) }),
  };
}
