import { sharedRead } from '@ticketing/runtime/shared-read.ts';
import type { Model } from 'mongoose';
import { type TagState, type TagTree, tagTree } from '../domain/tag-tree.ts';
import { tagsOf } from './tag-document.ts';
import { emptyTagLog, type TagLog, tagLogId, tagsAfter } from './tag-log.ts';
import type { TagDocument } from './tag-model.ts';

/** All tags at the revision of a log. */
export interface TagSnapshot {
  log: TagLog;
  tags: ReadonlyMap<number, TagState>;
  tree: TagTree;
}

/** Reads the tags. The last snapshot stays in memory: one small read shows whether it is still current. */
export interface TagReader {
  /** All tags as of now. */
  read(): Promise<TagSnapshot>;
  /** All tags, at most one second old. */
  readRecent(): Promise<TagSnapshot>;
  /** Makes the snapshot of a log whose tags are known, and keeps it unless there is a newer one. */
  cacheSnapshot(log: TagLog, tags: ReadonlyMap<number, TagState>): TagSnapshot;
}

const recentMs = 1000;

/** Opens the reader of the tags of two models. */
export function tagReader(tags: Model<TagDocument>, logs: Model<TagLog & { _id: string }>): TagReader {
  let latest: TagSnapshot | undefined;
  let latestCheckedAt = 0;

  function cacheSnapshot(log: TagLog, tagsById: ReadonlyMap<number, TagState>): TagSnapshot {
    const snapshot = { log, tags: tagsById, tree: tagTree([...tagsById.values()], log.revision) };
    if (!latest || latest.log.revision < log.revision) latest = snapshot;
    return snapshot;
  }

  const read = sharedRead(async (): Promise<TagSnapshot> => {
    const startedAt = performance.now();
    const snapshot = await readSnapshot();
    latestCheckedAt = startedAt;
    return snapshot;
  });

  async function readSnapshot(): Promise<TagSnapshot> {
    if (latest) {
      const newest = await logs.collection.findOne({ _id: tagLogId as never }, { projection: { revision: 1 } });
      if (latest.log.revision >= (newest?.revision ?? 0)) return latest;
    }
    for (;;) {
      const log = await readLog();
      if (latest && latest.log.revision >= log.revision) return latest;
      if (latest && latest.log.revision >= log.completeAfter)
        return cacheSnapshot(log, tagsAfter(latest.tags, latest.log.revision, log));
      const snapshot = await readDocuments(log);
      if (snapshot) return snapshot;
    }
  }

  /**
   * Reads all documents. They have every change before the last revision of `log`; later changes may be in them or not.
   * The log that is read afterwards has all of these, unless it has dropped some since: then the result is undefined.
   */
  async function readDocuments(log: TagLog): Promise<TagSnapshot | undefined> {
    const revision = log.revision - 1;
    const documents = await tags.find({}, { outbox: 0, outboxSince: 0, unsent: 0 }).lean<TagDocument[]>();
    const newest = await readLog();
    if (revision < newest.completeAfter && newest.revision !== 0) return undefined;
    return cacheSnapshot(newest, tagsAfter(tagsOf(documents), revision, newest));
  }

  async function readLog(): Promise<TagLog> {
    return (await logs.findById(tagLogId).lean<TagLog>()) ?? emptyTagLog;
  }

  return {
    read,
    async readRecent() {
      if (latest && performance.now() - latestCheckedAt < recentMs) return latest;
      return read();
    },
    cacheSnapshot,
  };
}
