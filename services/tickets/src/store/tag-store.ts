import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { firstInOutbox, outboxPush } from '@ticketing/events/outbox/outbox.ts';
import { sharedRead } from '@ticketing/runtime/shared-read.ts';
import { duplicatesIn, isDuplicateKey, storeCall } from '@ticketing/store/database.ts';
import type { Connection } from 'mongoose';
import { type TagState, type TagTree, tagTree } from '../domain/tag-tree.ts';
import {
  emptyTagLog,
  followed,
  maxChanges,
  type TagChange,
  type TagLog,
  tagLogId,
  tagLogModel,
  withChanges,
} from './tag-log.ts';
import { erasableFields, type TagDocument, type TagTombstone, tagModel } from './tag-model.ts';

/** The tags of this service. Every write stores its event in the same update. */
export interface TagStore {
  /** All tags, as of now. */
  tree(): Promise<TagTree>;
  /** All tags, as they were within the last second: for who writes a tag, as one that is deleted leaves its tickets later. */
  recentTree(): Promise<TagTree>;
  /**
   * Changes a tag as `decide` says, which sees the tree that the change is made to. Where another process changes a tag
   * first, it decides anew. Answers the tree after the change.
   *
   * Errors: what `decide` throws; concurrent_change if others always come first.
   */
  change(decide: Decide): Promise<TagTree>;
  /** Whether an id is or was that of a tag. */
  isTaken(id: number): Promise<boolean>;
  /** The deleted tags that tickets may still carry. */
  deletedTags(): Promise<DeletedTag[]>;
  /** Says that no ticket carries a deleted tag any more. */
  finishCleanup(id: number): Promise<void>;
}

/** Decides on a change of one tag, perhaps more than once; undefined: none is needed. */
export type Decide = (tree: TagTree) => TagChange | undefined | Promise<TagChange | undefined>;

/** A deleted tag that tickets may still carry. */
export type DeletedTag = Pick<TagTombstone, 'id' | 'cleanUpUntil' | 'deletedBy'>;

interface Snapshot {
  log: TagLog;
  tags: ReadonlyMap<number, TagState>;
  tree: TagTree;
}

interface Waiting {
  decide: Decide;
  resolve(tree: TagTree): void;
  reject(error: unknown): void;
}

/** What those who waited have decided together. */
interface Decided {
  changes: TagChange[];
  /** Those whose decision stands, and those whose decision is an error. */
  taken: Waiting[];
  refused: { waiting: Waiting; error: unknown }[];
  /** Those who come later: one changes a tag that is in `changes` already. */
  later: Waiting[];
}

const recentMs = 1000;
const maxAttempts = 1000;
const eagerAttempts = 3;
const pauseMs = 20;

/**
 * Opens the tags on a connection; `tell` is called when events are in the outbox. They are kept in memory, and follow the log of changes: one small read tells that
 * there were none.
 *
 * Changes are committed by writing them to the log, at the revision that they were decided on, and then carried out on
 * the documents of their tags; those that wait in this process are committed together. Whoever commits the next ones
 * carries them out first, so that a crash in between leaves nothing to be repaired; readers see what the log says.
 */
export function tagStore(connection: Connection, tell: () => void): TagStore {
  const tags = tagModel(connection);
  const logs = tagLogModel(connection);
  let known: Snapshot | undefined;
  let knownSince = 0;
  let carriedOut = 0;
  const waiting: Waiting[] = [];
  let isChanging = false;

  function keep(log: TagLog, all: ReadonlyMap<number, TagState>): Snapshot {
    const snapshot = { log, tags: all, tree: tagTree([...all.values()], log.revision) };
    if (!known || known.log.revision < log.revision) known = snapshot;
    return snapshot;
  }

  const snapshot = sharedRead(async (): Promise<Snapshot> => {
    const begun = performance.now();
    const newest = await readSnapshot();
    knownSince = begun;
    return newest;
  });

  async function readSnapshot(): Promise<Snapshot> {
    if (known) {
      const newest = await logs.collection.findOne({ _id: tagLogId as never }, { projection: { revision: 1 } });
      if (known.log.revision >= (newest?.revision ?? 0)) return known;
    }
    for (let log = await readLog(); ; log = await readLog()) {
      if (known && known.log.revision >= log.revision) return known;
      if (known && known.log.revision >= log.completeAfter)
        return keep(log, followed(known.tags, known.log.revision, log));
      // All changes but the last of the log have been carried out; those that come while the documents are read may
      // be in them or not, and are in the log that is read afterwards.
      const before = log.revision - 1;
      const documents = await tags.find({}, { outbox: 0, outboxSince: 0, unsent: 0 }).lean<TagDocument[]>();
      log = await readLog();
      if (before >= log.completeAfter || log.revision === 0)
        return keep(log, followed(aliveOf(documents), before, log));
    }
  }

  async function readLog(): Promise<TagLog> {
    return (await logs.findById(tagLogId).lean<TagLog>()) ?? emptyTagLog;
  }

  /** Answers false if another change was committed at the revision. */
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

  /** Carries out the last changes of a log, unless that has been done. */
  async function carryOut({ revision, changes }: TagLog): Promise<void> {
    const last = changes.filter((change) => change.revision === revision);
    if (last.length === 0 || carriedOut >= revision) return;
    try {
      await tags.collection.bulkWrite(last.map(writeOf) as never, { ordered: false });
    } catch (error) {
      // Whose key exists was carried out before.
      if (!duplicatesIn(error)) throw error;
    }
    carriedOut = Math.max(carriedOut, revision);
    tell();
  }

  /** Commits the changes of those who wait, many at once; between processes the revision decides who comes first. */
  async function changeAll(): Promise<void> {
    isChanging = true;
    while (waiting.length > 0) {
      const turn = waiting.splice(0, maxChanges);
      try {
        waiting.unshift(...(await storeCall(() => change(turn))));
      } catch (error) {
        for (const { reject } of turn) reject(error);
      }
    }
    isChanging = false;
  }

  /** Answers those whose turn has not come yet. */
  async function change(turn: readonly Waiting[]): Promise<Waiting[]> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (attempt > eagerAttempts) await setTimeout(Math.random() * pauseMs);
      const before = await snapshot();
      const { changes, taken, refused, later } = await decideAll(before.tags, turn);
      let { tree } = before;
      if (changes.length > 0) {
        await carryOut(before.log);
        const log = withChanges(before.log, changes);
        if (!(await commit(log, before.log.revision))) continue;
        await carryOut(log);
        tree = keep(log, followed(before.tags, before.log.revision, log)).tree;
      }
      for (const { resolve } of taken) resolve(tree);
      for (const { waiting, error } of refused) waiting.reject(error);
      return later;
    }
    throw new DomainError('aborted', 'concurrent_change', 'The tags are being changed too often.');
  }

  return {
    tree: async () => (await storeCall(snapshot)).tree,
    async recentTree() {
      if (known && performance.now() - knownSince < recentMs) return known.tree;
      return (await storeCall(snapshot)).tree;
    },
    async change(decide) {
      // Whoever finds the database away does not line up to find it away again.
      await storeCall(snapshot);
      return new Promise((resolve, reject) => {
        waiting.push({ decide, resolve, reject });
        if (!isChanging) void changeAll();
      });
    },
    isTaken: (id) =>
      storeCall(async () => (await snapshot()).tree.get(id) !== undefined || (await tags.exists({ _id: id })) !== null),
    deletedTags: () =>
      storeCall(async () => {
        await carryOut((await snapshot()).log);
        const found = await tags
          .find({ cleanUpUntil: { $exists: true } }, { cleanUpUntil: 1, deletedBy: 1 })
          .lean<(DeletedTag & { _id: number })[]>();
        return found.map(({ _id, cleanUpUntil, deletedBy }) => ({ id: _id, cleanUpUntil, deletedBy }));
      }),
    async finishCleanup(id) {
      await storeCall(() => tags.updateOne({ _id: id }, { $unset: { cleanUpUntil: 1, deletedBy: 1 } }));
    },
  };
}

/** Lets each decide on the tree as those before it leave it. */
async function decideAll(before: ReadonlyMap<number, TagState>, turn: readonly Waiting[]): Promise<Decided> {
  const tags = new Map(before);
  const decided: Decided = { changes: [], taken: [], refused: [], later: [] };
  for (const [index, waiting] of turn.entries()) {
    try {
      const change = await waiting.decide(tagTree([...tags.values()]));
      if (decided.changes.some(({ tag }) => tag.id === change?.tag.id)) {
        decided.later.push(...turn.slice(index));
        break;
      }
      decided.taken.push(waiting);
      if (!change) continue;
      decided.changes.push(change);
      if ('deleted' in change.tag) tags.delete(change.tag.id);
      else tags.set(change.tag.id, change.tag);
    } catch (error) {
      decided.refused.push({ waiting, error });
    }
  }
  return decided;
}

/** Brings the document of a tag to what a change says, if it has not been brought there. */
function writeOf({ tag, event }: TagChange) {
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

function aliveOf(documents: readonly TagDocument[]): Map<number, TagState> {
  const alive = new Map<number, TagState>();
  for (const { _id, outbox: _, ...tag } of documents) if (!('deleted' in tag)) alive.set(_id, { id: _id, ...tag });
  return alive;
}
