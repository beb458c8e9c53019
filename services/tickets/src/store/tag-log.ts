import { type Connection, type Model, Schema } from 'mongoose';
import { applyTagChange, type TagChange } from '../domain/tag-change.ts';
import type { TagState } from '../domain/tag-tree.ts';

/**
 * The last changes of the tags, in the order in which they were committed. The log is one document: one write commits
 * changes, and it succeeds only if no other changes were committed since the log was read.
 */
export interface TagLog {
  /** How often changes have been committed. */
  revision: number;
  /** The last change of each tag that was changed after `completeAfter`, with the revision of its commit. */
  changes: readonly (TagChange & { revision: number })[];
  /** The revision after which the log has the last change of every tag. */
  completeAfter: number;
}

/** The id of the log document. */
export const tagLogId = 'tags';

/** The log before the first change. */
export const emptyTagLog: TagLog = { revision: 0, changes: [], completeAfter: 0 };

/** How many changes the log has at most. */
export const maxChanges = 20;

/** Adds changes that are committed together to a log: at most one of each tag, and `maxChanges` in all. */
export function appendChanges(log: TagLog, changes: readonly TagChange[]): TagLog {
  const revision = log.revision + 1;
  const changed = new Set(changes.map(({ tag }) => tag.id));
  const others = log.changes.filter(({ tag }) => !changed.has(tag.id));
  const keptFrom = Math.max(0, others.length + changes.length - maxChanges);
  return {
    revision,
    changes: [...others.slice(keptFrom), ...changes.map((change) => ({ revision, ...change }))],
    completeAfter: others[keptFrom - 1]?.revision ?? log.completeAfter,
  };
}

/**
 * The tags at the revision of a log, made from those at an earlier revision, which must be at least `completeAfter`.
 */
export function tagsAfter(
  tags: ReadonlyMap<number, TagState>,
  revision: number,
  { changes }: TagLog,
): Map<number, TagState> {
  const after = new Map(tags);
  for (const change of changes) if (change.revision > revision) applyTagChange(after, change);
  return after;
}

/** The model of the log on a connection. */
export function tagLogModel(connection: Connection): Model<TagLog & { _id: string }> {
  const schema = new Schema<TagLog & { _id: string }>(
    { _id: String, revision: Number, changes: [Schema.Types.Mixed], completeAfter: Number },
    { versionKey: false, collection: 'tagLog' },
  );
  return connection.model<TagLog & { _id: string }>('TagLog', schema);
}
