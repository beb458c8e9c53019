import { type Connection, type Model, Schema } from 'mongoose';
import { type TemplateState, templateBytes } from './rules.ts';

/** The document of a response template. */
export type TemplateDocument = Omit<TemplateState, 'id'> & {
  _id: number;
  /** The result of `templateBytes`. */
  bytes: number;
};

const schema = new Schema(
  {
    _id: Number,
    version: Number,
    tagId: Number,
    emailTemplateId: Number,
    description: String,
    message: String,
    subject: String,
    exampleTicketIds: [Number],
    attachments: [Schema.Types.Mixed],
    bytes: Number,
  },
  { versionKey: false, strict: 'throw', minimize: false, collection: 'templates' },
);
schema.index({ tagId: 1 });
schema.index({ emailTemplateId: 1 });
schema.index({ exampleTicketIds: 1 });

/** The collections with the ids of tickets and tags that were deleted, and that no template may name any more. */
export const erasedCollections = { tickets: 'erasedTickets', tags: 'deletedTags' };

/** Opens the model of the response templates on a connection. */
export function templateModel(connection: Connection): Model<TemplateDocument> {
  return connection.model<TemplateDocument>('Template', schema as unknown as Schema<TemplateDocument>);
}

/** Converts a template to its document. */
export function toDocument({ id, ...state }: TemplateState): TemplateDocument {
  return { _id: id, ...state, bytes: templateBytes({ id, ...state }) };
}

/** Converts a document to its template. */
export function fromDocument({ _id, bytes: _bytes, ...state }: TemplateDocument): TemplateState {
  return { id: _id, ...state };
}
