import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { duplicatesIn, isDuplicateKey, storeCall } from '@ticketing/store/store-error.ts';
import type { Model } from 'mongoose';
import type { TagTree } from '../domain/tag-tree.ts';
import { type DecideTag, decideSequentially, type WaitingChange } from './tag-decisions.ts';
import { tagWrite } from './tag-document.ts';
import { appendChanges, maxChanges, type TagLog, tagLogId, tagsAfter } from './tag-log.ts';
import type { TagDocument } from './tag-model.ts';
import type { TagReader } from './tag-reader.ts';

/** Changes tags. */
export interface TagWriter {
  /** See `TagStore.change`. */
  change(decide: DecideTag): Promise<TagTree>;
  /** Applies the last committed changes to the documents of their tags, unless that has been done. */
  applyLastChanges(): Promise<void>;
}

const maxAttempts = 1000;
/** After this many attempts, each further one waits for a random time first. */
const attemptsWithoutPause = 3;
const maxPauseMs = 20;

/**
 * Opens the writer of the tags of two models. `onEvent` is called after each write that has stored events.
 *
 * Changes are committed by writing them to the log, at the revision on which they were decided, and are then applied to
 * the documents of their tags. Callers that wait in this process are committed together. Before the next commit, in any
 * process, the last changes are applied again, so that nothing has to be repaired after a crash in between.
 */
export function tagWriter(
  tags: Model<TagDocument>,
  logs: Model<TagLog & { _id: string }>,
  reader: TagReader,
  onEvent: () => void,
  { random }: Pick<Runtime, 'random'>,
): TagWriter {
  const waiting: WaitingChange[] = [];
  let isChanging = false;
  let appliedRevision = 0;

  async function commitWaitingChanges(): Promise<void> {
    isChanging = true;
    while (waiting.length > 0) {
      const callers = waiting.splice(0, maxChanges);
      try {
        waiting.unshift(...(await storeCall(() => changeTogether(callers))));
      } catch (error) {
        for (const { reject } of callers) reject(error);
      }
    }
    isChanging = false;
  }

  /**
   * Decides and commits until no other process commits first. Returns the callers who have to wait for the next commit.
   */
  async function changeTogether(callers: readonly WaitingChange[]): Promise<WaitingChange[]> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (attempt > attemptsWithoutPause) await setTimeout(random() * maxPauseMs);
      const before = await reader.read();
      const { changes, decided, failed, postponed } = await decideSequentially(before.tags, callers);
      let { tree } = before;
      if (changes.length > 0) {
        await apply(before.log);
        const log = appendChanges(before.log, changes);
        if (!(await commit(log, before.log.revision))) continue;
        await apply(log);
        tree = reader.cacheSnapshot(log, tagsAfter(before.tags, before.log.revision, log)).tree;
      }
      for (const { resolve } of decided) resolve(tree);
      for (const { waiting, error } of failed) waiting.reject(error);
      return postponed;
    }
    throw new DomainError('aborted', 'concurrent_change', 'The tags are being changed too often.');
  }

  /** Writes the log. Returns false if another process has committed changes since the revision. */
  async function commit(log: TagLog, revision: number): Promise<boolean> {
    try {
      const filter = { _id: tagLogId, revision };
      const result = await logs.collection.updateOne(filter as never, { $set: log }, { upsert: revision === 0 });
      return result.matchedCount + result.upsertedCount === 1;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async function apply({ revision, changes }: TagLog): Promise<void> {
    const last = changes.filter((change) => change.revision === revision);
    if (last.length === 0 || appliedRevision >= revision) return;
    try {
      await tags.collection.bulkWrite(last.map(tagWrite) as never, { ordered: false });
    } catch (error) {
      // The insert of a tag whose id is taken was applied before.
      if (!duplicatesIn(error)) throw error;
    }
    appliedRevision = Math.max(appliedRevision, revision);
    onEvent();
  }

  return {
    async change(decide) {
      // Fails all callers at once while the database is unavailable. In the queue, each would also wait for the timeouts
      // of those before it.
      await storeCall(reader.read);
      return new Promise((resolve, reject) => {
        waiting.push({ decide, resolve, reject });
        if (!isChanging) void commitWaitingChanges();
      });
    },
    applyLastChanges: async () => apply((await reader.read()).log),
  };
}
