import { type OutboxFields, outboxIndex } from '@ticketing/events/outbox/outbox.ts';
import { type Connection, type Model, Schema } from 'mongoose';
import type { DeletedTag } from './rules/change.ts';
import type { TagEvent } from './rules/event.ts';
import type { TagState } from './rules/tree.ts';

/** The name of the collection of tags. */
export const tagCollection = 'tags';

/** The document of a tag. The end of its cleanup removes `cleanUpUntil` and the profile that deleted the tag. */
export type TagDocument = (
  | Stored<TagState>
  | (Pick<Stored<DeletedTag>, '_id' | 'version' | 'deleted'> & Partial<DeletedTag>)
) &
  OutboxFields<TagEvent>;

type Stored<Tag extends { id: number }> = Omit<Tag, 'id'> & { _id: number };

/** The types of the fields that a deletion erases. */
const erasable = {
  name: String,
  parent: Number,
  reference: Number,
  type: Number,
  visibility: Number,
  color: String,
  routingRelevant: Boolean,
  sla: Number,
  firstResponseSla: Number,
  priority: Number,
  keywords: [String],
  modifiedAt: Number,
} satisfies Record<keyof Omit<TagState, 'id' | 'version'>, unknown>;

/** The names of the fields that a deletion erases. */
export const erasableFields = Object.keys(erasable);

/** The model of the tags on a connection. */
export function tagModel(connection: Connection): Model<TagDocument> {
  const schema = new Schema(
    {
      _id: Number,
      version: Number,
      ...erasable,
      deleted: Boolean,
      cleanUpUntil: Number,
      deletedBy: Schema.Types.Mixed,
      outbox: [Schema.Types.Mixed],
      outboxSince: Date,
      unsent: Schema.Types.Mixed,
    },
    { versionKey: false, strict: 'throw', minimize: false, collection: tagCollection },
  );
  schema.index({ cleanUpUntil: 1 }, { partialFilterExpression: { cleanUpUntil: { $exists: true } } });
  schema.index(outboxIndex.index, outboxIndex.options);
  return connection.model<TagDocument>('Tag', schema as unknown as Schema<TagDocument>);
}
