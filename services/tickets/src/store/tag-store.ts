import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@ticketing/rest/domain-error.ts';
import type { Connection } from 'mongoose';
import { type TagState, type TagTree, tagTree } from '../domain/tag-tree.ts';
import { isDuplicateKey, reachable } from './database.ts';
import { sharedRead } from './shared-read.ts';
import { emptyTagLog, followed, type TagChange, type TagLog, tagLogId, tagLogModel, withChange } from './tag-log.ts';
import { erasableFields, type GoneTag, type TagDocument, tagModel } from './tag-model.ts';

/** The tags of this service. Every write stores its event in the same update. */
export interface TagStore {
  /** All tags, as of now. */
  tree(): Promise<TagTree>;
  /**
   * Changes a tag as `decide` says, which sees the tree that the change is made to. Where another process changes a tag
   * first, it decides anew. Answers the tree after the change.
   *
   * Errors: what `decide` throws; concurrent_change if others always come first.
   */
  change(decide: (tree: TagTree) => TagChange | undefined | Promise<TagChange | undefined>): Promise<TagTree>;
  /** Whether an id is or was that of a tag. */
  isTaken(id: number): Promise<boolean>;
  /** The deleted tags that tickets may still carry. */
  leaving(): Promise<LeavingTag[]>;
  /** Says that no ticket carries a deleted tag any more. */
  finishLeaving(id: number): Promise<void>;
}

/** A deleted tag that tickets may still carry. */
export type LeavingTag = Pick<GoneTag, 'id' | 'leavesUntil' | 'deletedBy'>;

interface Snapshot {
  log: TagLog;
  tags: ReadonlyMap<number, TagState>;
  tree: TagTree;
}

const maxAttempts = 1000;
const eagerAttempts = 3;
const pauseMs = 20;

/**
 * Opens the tags on a connection. They are kept in memory, and follow the log of changes: one small read tells that
 * there were none.
 *
 * A change is committed by writing it to the log, at the revision that it was decided on, and then carried out on the
 * document of its tag. Whoever commits the next one carries it out first, so that a crash in between leaves nothing to
 * be repaired; readers see what the log says.
 */
export function tagStore(connection: Connection): TagStore {
  const tags = tagModel(connection);
  const logs = tagLogModel(connection);
  let known: Snapshot | undefined;
  let carriedOut = 0;
  let lastTurn: Promise<unknown> = Promise.resolve();

  function keep(log: TagLog, all: ReadonlyMap<number, TagState>): Snapshot {
    const snapshot = { log, tags: all, tree: tagTree([...all.values()]) };
    if (!known || known.log.revision < log.revision) known = snapshot;
    return snapshot;
  }

  const snapshot = sharedRead(async (): Promise<Snapshot> => {
    if (known) {
      const newest = await logs.findById(tagLogId, { revision: 1 }).lean();
      if (known.log.revision >= (newest?.revision ?? 0)) return known;
    }
    for (let log = await readLog(); ; log = await readLog()) {
      if (known && known.log.revision >= log.revision) return known;
      if (known && known.log.revision >= log.completeAfter)
        return keep(log, followed(known.tags, known.log.revision, log));
      // All changes but the last of the log have been carried out; those that come while the documents are read may
      // be in them or not, and are in the log that is read afterwards.
      const before = log.revision - 1;
      const documents = await tags.find({}, { outbox: 0 }).lean<TagDocument[]>();
      log = await readLog();
      if (before >= log.completeAfter || log.revision === 0)
        return keep(log, followed(aliveOf(documents), before, log));
    }
  });

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

  /** Carries out the last change of a log, unless that has been done. */
  async function carryOut({ revision, changes }: TagLog): Promise<void> {
    const change = changes.at(-1);
    if (!change || carriedOut >= revision) return;
    const { tag, event } = change;
    const { id, ...fields } = tag;
    if (tag.version === 1) await insert({ _id: id, ...fields, outbox: [event] } as TagDocument);
    else {
      await tags.collection.updateOne(
        { _id: id, version: tag.version - 1 } as never,
        {
          $set: fields,
          $push: { outbox: event },
          ...('deleted' in tag ? { $unset: Object.fromEntries(erasableFields.map((name) => [name, 1])) } : {}),
        } as never,
      );
    }
    carriedOut = Math.max(carriedOut, revision);
  }

  async function insert(document: TagDocument): Promise<void> {
    try {
      await tags.collection.insertOne(document as never);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }

  async function change(decide: Parameters<TagStore['change']>[0]): Promise<TagTree> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (attempt > eagerAttempts) await setTimeout(Math.random() * pauseMs);
      const before = await snapshot();
      const decided = await decide(before.tree);
      if (!decided) return before.tree;
      await carryOut(before.log);
      const log = withChange(before.log, decided);
      if (!(await commit(log, before.log.revision))) continue;
      await carryOut(log);
      return keep(log, followed(before.tags, before.log.revision, log)).tree;
    }
    throw new DomainError('aborted', 'concurrent_change', 'The tags are being changed too often.');
  }

  return {
    tree: async () => (await reachable(snapshot)).tree,
    async change(decide) {
      // Whoever finds the database away does not line up to find it away again.
      await reachable(snapshot);
      // One after the other in this process; between processes the revision decides.
      const turn = lastTurn.then(() => reachable(() => change(decide)));
      lastTurn = turn.catch(() => undefined);
      return turn;
    },
    isTaken: (id) =>
      reachable(async () => (await snapshot()).tree.get(id) !== undefined || (await tags.exists({ _id: id })) !== null),
    leaving: () =>
      reachable(async () => {
        await carryOut((await snapshot()).log);
        const found = await tags
          .find({ leavesUntil: { $exists: true } }, { leavesUntil: 1, deletedBy: 1 })
          .lean<(LeavingTag & { _id: number })[]>();
        return found.map(({ _id, leavesUntil, deletedBy }) => ({ id: _id, leavesUntil, deletedBy }));
      }),
    async finishLeaving(id) {
      await reachable(() => tags.updateOne({ _id: id }, { $unset: { leavesUntil: 1, deletedBy: 1 } }));
    },
  };
}

function aliveOf(documents: readonly TagDocument[]): Map<number, TagState> {
  const alive = new Map<number, TagState>();
  for (const { _id, outbox: _, ...tag } of documents) if (!('deleted' in tag)) alive.set(_id, { id: _id, ...tag });
  return alive;
}
