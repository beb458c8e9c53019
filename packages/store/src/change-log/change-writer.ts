import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { mongo } from 'mongoose';
import { conflict, retryOnConflict } from '../document/retry-on-conflict.ts';
import { isDuplicateKey, storeCall } from '../document/store-error.ts';
import { type Decide, decideSequentially, type WaitingChange } from './change-decisions.ts';
import { appendChanges, type ChangeLog, itemsAfter, maxChanges } from './change-log.ts';
import { changeReader, type LogDocument, type ReaderOptions } from './change-reader.ts';

/** Items that are changed through a log. */
export interface LoggedItems<Change, Tree> {
  /** Reads the current items. Errors: those of the driver. */
  tree(): Promise<Tree>;
  /** Returns all items, at most one second old. Errors: those of the driver. */
  recentTree(): Promise<Tree>;
  /**
   * Changes an item as `decide` says for the current tree. If another process changes an item first, `decide` is called
   * again. Returns the tree after the change.
   *
   * Errors: what `decide` throws; store_unavailable; concurrent_change if too many other changes come first.
   */
  change(decide: Decide<Change, Tree>): Promise<Tree>;
  /** Applies the last committed changes to the documents of their items, unless that has been done. */
  applyLastChanges(): Promise<void>;
}

/** How the items of a kind are read and changed. */
export interface LogOptions<Item, Change, Tree> extends Omit<ReaderOptions<Item, Change, Tree>, 'onLog'> {
  /** Applies committed changes to the documents of their items. Applying them a second time has no effect. */
  apply(changes: readonly (Change & { revision: number })[]): Promise<void>;
  /**
   * Prepares changes before they are committed as a revision, for data that the log cannot hold. Returns them as they
   * go into the log; undefined if another process has prepared a change of the same item for this revision.
   */
  prepare?(changes: readonly Change[], revision: number): Promise<readonly Change[] | undefined>;
  /** Whether readers use the documents, so that the last changes have to be applied before a snapshot is returned. */
  readsDocuments?: boolean;
  /** The text of the error concurrent_change. */
  tooOften: string;
  random: Runtime['random'];
}

/** The attempts after which the process that has prepared a change has probably died. */
const attemptsBeforeRepair = 3;

/**
 * Opens items that are changed through a log.
 *
 * Changes are committed by writing them to the log, at the revision on which they were decided, and are then applied to
 * the documents of their items. Callers that wait in this process are committed together. Before the next commit, in any
 * process, the last changes are applied again, so that nothing has to be repaired after a crash in between.
 * Why: docs/decisions/0007, docs/decisions/0042.
 */
export function openChangeLog<Item, Change, Tree>(options: LogOptions<Item, Change, Tree>): LoggedItems<Change, Tree> {
  const { logId, logs, readId, applyTo, makeTree, readsDocuments = false, random } = options;
  const { prepare = async (changes) => changes } = options;
  const reader = changeReader({ ...options, ...(readsDocuments ? { onLog: apply } : {}) });
  const waiting: WaitingChange<Change, Tree>[] = [];
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
  async function changeTogether(
    callers: readonly WaitingChange<Change, Tree>[],
  ): Promise<WaitingChange<Change, Tree>[]> {
    return retryOnConflict({ random }, options.tooOften, async (nth) => {
      const before = await reader.read();
      const { revision } = before.log;
      const kind = { readId, applyTo, makeTree: (items: ReadonlyMap<number, Item>) => makeTree(items, revision) };
      const { changes, decided, failed, postponed } = await decideSequentially(before.items, callers, kind);
      let { tree } = before;
      if (changes.length > 0) {
        await apply(before.log);
        const prepared = await prepare(changes, revision + 1);
        // A revision without changes ends the preparation of another process, which may have died.
        if (!prepared && nth > attemptsBeforeRepair) await commit(appendChanges(before.log, [], readId), revision);
        if (!prepared) return conflict;
        const log = appendChanges(before.log, prepared, readId);
        if (!(await commit(log, revision))) return conflict;
        await apply(log);
        tree = reader.cacheSnapshot(log, itemsAfter(before.items, revision, log, applyTo)).tree;
      }
      for (const { resolve } of decided) resolve(tree);
      for (const { waiting, error } of failed) waiting.reject(error);
      return postponed;
    });
  }

  /** Writes the log. Returns false if another process has committed changes since the revision. */
  async function commit(log: ChangeLog<Change>, revision: number): Promise<boolean> {
    try {
      const filter = { _id: logId, revision } as mongo.Filter<LogDocument<Change>>;
      const update = { $set: log } as unknown as mongo.UpdateFilter<LogDocument<Change>>;
      const result = await logs.updateOne(filter, update, { upsert: revision === 0 });
      return result.matchedCount + result.upsertedCount === 1;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async function apply({ revision, changes }: ChangeLog<Change>): Promise<void> {
    const last = changes.filter((change) => change.revision === revision);
    if (last.length === 0 || appliedRevision >= revision) return;
    await options.apply(last);
    appliedRevision = Math.max(appliedRevision, revision);
  }

  return {
    tree: async () => (await reader.read()).tree,
    recentTree: async () => (await reader.readRecent()).tree,
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
