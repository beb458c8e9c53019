import { sharedRead } from '@ticketing/runtime/shared-read.ts';
import type { mongo } from 'mongoose';
import { type ChangeKind, type ChangeLog, emptyLog, itemsAfter } from './change-log.ts';

/** All items at the revision of a log. */
export interface Snapshot<Item, Change, Tree> {
  log: ChangeLog<Change>;
  items: ReadonlyMap<number, Item>;
  tree: Tree;
}

/** Reads the items. The last snapshot stays in memory: one small read shows whether it is still current. */
export interface ChangeReader<Item, Change, Tree> {
  /** Reads the current items. */
  read(): Promise<Snapshot<Item, Change, Tree>>;
  /** Returns all items, at most one second old. */
  readRecent(): Promise<Snapshot<Item, Change, Tree>>;
  /** Makes the snapshot of a log whose items are known, and keeps it unless there is a newer one. */
  cacheSnapshot(log: ChangeLog<Change>, items: ReadonlyMap<number, Item>): Snapshot<Item, Change, Tree>;
}

/** The document of a log. */
export type LogDocument<Change> = ChangeLog<Change> & { _id: string };

/** How the items of a kind are read. */
export interface ReaderOptions<Item, Change, Tree> extends ChangeKind<Item, Change> {
  /** The id of the document of the log. */
  logId: string;
  logs: mongo.Collection<LogDocument<Change>>;
  /** Reads the documents of all items. */
  readItems(): Promise<ReadonlyMap<number, Item>>;
  makeTree(items: ReadonlyMap<number, Item>, revision: number): Tree;
  /** Called with a log that was read, before its changes are used. */
  onLog?(log: ChangeLog<Change>): Promise<void>;
}

/** The rest of the second is for sending the response. */
const recentMs = 900;

/** Opens the reader of the items of a kind. */
export function changeReader<Item, Change, Tree>({
  logId,
  logs,
  applyTo,
  readItems,
  makeTree,
  onLog = async () => undefined,
}: ReaderOptions<Item, Change, Tree>): ChangeReader<Item, Change, Tree> {
  type Current = Snapshot<Item, Change, Tree>;
  const byId = { _id: logId } as mongo.Filter<LogDocument<Change>>;
  let latest: Current | undefined;
  let latestCheckedAt = 0;

  function cacheSnapshot(log: ChangeLog<Change>, items: ReadonlyMap<number, Item>): Current {
    const snapshot = { log, items, tree: makeTree(items, log.revision) };
    if (!latest || latest.log.revision < log.revision) latest = snapshot;
    return snapshot;
  }

  const read = sharedRead(async (): Promise<Current> => {
    const startedAt = performance.now();
    const snapshot = await readSnapshot();
    latestCheckedAt = startedAt;
    return snapshot;
  });

  async function readSnapshot(): Promise<Current> {
    if (latest) {
      const newest = await logs.findOne(byId, { projection: { revision: 1 } });
      if (latest.log.revision >= (newest?.revision ?? 0)) return latest;
    }
    for (;;) {
      const log = await readLog();
      if (latest && latest.log.revision >= log.revision) return latest;
      if (latest && latest.log.revision >= log.completeAfter)
        return cacheSnapshot(log, itemsAfter(latest.items, latest.log.revision, log, applyTo));
      const snapshot = await readDocuments(log);
      if (snapshot) return snapshot;
    }
  }

  /**
   * Reads all documents. They have every change before the last revision of `log`; later changes may be in them or not.
   * The log that is read afterwards has all of these, unless it has dropped some since: then the result is undefined.
   */
  async function readDocuments(log: ChangeLog<Change>): Promise<Current | undefined> {
    const revision = log.revision - 1;
    const items = await readItems();
    const newest = await readLog();
    if (revision < newest.completeAfter && newest.revision !== 0) return undefined;
    return cacheSnapshot(newest, itemsAfter(items, revision, newest, applyTo));
  }

  async function readLog(): Promise<ChangeLog<Change>> {
    const found = await logs.findOne(byId);
    const log = found
      ? { revision: found.revision, changes: found.changes, completeAfter: found.completeAfter }
      : emptyLog;
    await onLog(log);
    return log;
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
