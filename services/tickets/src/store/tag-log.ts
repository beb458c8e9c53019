import { type Connection, type Model, Schema } from 'mongoose';
import type { TagEvent } from '../domain/tag-event.ts';
import type { TagState } from '../domain/tag-tree.ts';
import type { TagTombstone } from './tag-model.ts';

/** A change of one tag: what it is afterwards, and the event. */
export interface TagChange {
  tag: TagState | TagTombstone;
  event: TagEvent;
}

/**
 * The last changes of the tags, in their order. It is one document, so that a change is committed by one write, and only
 * by one that knew all changes before it.
 */
export interface TagLog {
  /** How often it has been written. */
  revision: number;
  /** Of each tag the last change, if it came after `completeAfter`. */
  changes: readonly (TagChange & { revision: number })[];
  completeAfter: number;
}

/** The id of the only document. */
export const tagLogId = 'tags';

/** The log before the first change. */
export const emptyTagLog: TagLog = { revision: 0, changes: [], completeAfter: 0 };

/** How many changes the log holds. */
export const maxChanges = 20;

/** The log with changes that are committed together, at most one of each tag and `maxChanges` in all. */
export function withChanges(log: TagLog, changes: readonly TagChange[]): TagLog {
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

/** The tags at the revision of a log, from what they were at an earlier one that the log still reaches back to. */
export function followed(
  tags: ReadonlyMap<number, TagState>,
  revision: number,
  { changes }: TagLog,
): Map<number, TagState> {
  const after = new Map(tags);
  for (const { tag, ...change } of changes) {
    if (change.revision <= revision) continue;
    if ('deleted' in tag) after.delete(tag.id);
    else after.set(tag.id, tag);
  }
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
