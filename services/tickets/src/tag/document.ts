import { firstInOutbox, outboxPush } from '@ticketing/events/outbox/outbox.ts';
import type { TagChange } from './rules/change.ts';
import type { TagState } from './rules/tree.ts';
import { erasableFields, type TagDocument } from './schema.ts';

/** The write that applies a change to the document of its tag. Applying it a second time has no effect. */
export function tagWrite({ tag, event }: TagChange) {
  const { id, ...fields } = tag;
  if (tag.version === 1) return { insertOne: { document: { _id: id, ...fields, ...firstInOutbox(event) } } };
  const erased = Object.fromEntries(erasableFields.map((name) => [name, 1]));
  return {
    updateOne: {
      filter: { _id: id, version: tag.version - 1 },
      update: { $set: fields, ...outboxPush(event), ...('deleted' in tag ? { $unset: erased } : {}) },
    },
  };
}

/** The tags of documents, without the deleted ones, by id. */
export function tagsOf(documents: readonly TagDocument[]): Map<number, TagState> {
  const tags = new Map<number, TagState>();
  for (const { _id, outbox: _, ...tag } of documents) if (!('deleted' in tag)) tags.set(_id, { id: _id, ...tag });
  return tags;
}
