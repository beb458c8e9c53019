import { parentTree } from '@ticketing/runtime/parent-tree.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Decide } from '@ticketing/store/change-log/change-decisions.ts';
import type { LogDocument } from '@ticketing/store/change-log/change-reader.ts';
import { openChangeLog } from '@ticketing/store/change-log/change-writer.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { storeCall, translateTimeLimit } from '@ticketing/store/document/store-error.ts';
import { wordsQueries } from '@ticketing/store/document/words-query.ts';
import { requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { SearchTerm } from '@ticketing/text/search-query.ts';
import type { Connection, mongo } from 'mongoose';
import { applyChanges, prepareChanges, removeAbandoned } from './change-store.ts';
import type { SourceNode, SourceTree } from './rules/state.ts';
import {
  type ChangeableSource,
  changedFields,
  estimateShownBytes,
  hashSource,
  keptFields,
  type Reader,
  readShown,
  type SourceChange,
  type SourceDocument,
  type StoredSource,
  shownFields,
  sourceCollection,
  toChangeable,
} from './schema.ts';

/** The knowledge sources of this service. Errors of every operation: store_unavailable. */
export interface SourceStore {
  /** Returns the tree that is kept in memory, in its current state. */
  tree(): Promise<SourceTree>;
  /**
   * Changes a source as `decide` says for the current tree. If another process changes a source first, `decide` is called
   * again. Returns the tree after the change.
   *
   * Errors: what `decide` throws; concurrent_change if too many other changes come first.
   */
  change(decide: Decide<SourceChange, SourceTree>): Promise<SourceTree>;
  /**
   * Reads sources by their ids, in any order. Deleted sources are left out.
   *
   * Errors: page_too_large, if the sources and their readers are too large together.
   */
  read(ids: readonly number[]): Promise<StoredSource[]>;
  /** Returns a source as it is stored, without its readers, for a change; undefined if there is none. */
  findStored(id: number): Promise<ChangeableSource | undefined>;
  /** Returns the remaining data of a deleted source; undefined if it is not deleted, or never existed. */
  findDeleted(id: number): Promise<{ requestId: string | null } | undefined>;
  /** Returns the ids of sources that match, deleted ones excluded. Errors: search_too_slow. */
  matching(conditions: SourceConditions): Promise<Set<number>>;
  /** Records that an agent has read a source now, once for each agent. Only the last 1,000 agents are kept. */
  addReader(id: number, reader: Reader): Promise<void>;
  /** Removes a deleted tag from all sources. */
  removeTag(tag: number): Promise<void>;
  /** Removes changes that were prepared, but not committed, by processes that have died. */
  removeAbandoned(): Promise<void>;
  /** Returns the deleted sources whose stored responses are not erased yet. */
  pendingErasures(): Promise<number[]>;
  finishErasure(id: number): Promise<void>;
}

/** The conditions that sources must meet. */
export interface SourceConditions {
  tag?: number | undefined;
  source?: string | undefined;
  /** The search that they must meet. An empty list matches nothing. */
  terms?: readonly SearchTerm[] | undefined;
  /** Where the words are searched. */
  in?: 'title' | 'titleAndText';
}

const maxReaders = 1000;
const maxQueryMs = 10_000;
const tooSlowDetail = 'This search takes too long. Search for longer words.';
const oneAtATime = 100;

/** Opens the sources on a connection. */
export function sourceStore(connection: Connection, runtime: Pick<Runtime, 'random' | 'randomUUID'>): SourceStore {
  const sources = sourceCollection(connection);
  const logged = openChangeLog<SourceNode, SourceChange, SourceTree>({
    logId: 'sources',
    logs: openCollection<LogDocument<SourceChange>>(connection, 'sourceLog'),
    readId: ({ source }) => source.id,
    applyTo(nodes, { source }) {
      if ('deleted' in source) nodes.delete(source.id);
      else nodes.set(source.id, source);
    },
    async readItems() {
      const filter = { version: { $gt: 0 }, deleted: { $exists: false } };
      const documents = await sources.find(filter, { projection: keptFields }).toArray();
      return new Map(documents.map(({ _id, ...node }) => [_id, { id: _id, ...node } as SourceNode]));
    },
    makeTree: (nodes, revision) => ({ ...parentTree(nodes), revision }),
    prepare: (changes, revision) => prepareChanges(sources, changes, revision, runtime),
    apply: (changes) => applyChanges(sources, changes),
    readsDocuments: true,
    tooOften: 'The knowledge sources are being changed too often.',
    random: runtime.random,
  });

  return {
    tree: () => storeCall(logged.tree),
    change: logged.change,
    read: (ids) => storeCall(() => read(sources, ids)),
    findStored: (id) =>
      storeCall(async () => {
        const filter = { _id: id, version: { $gt: 0 }, deleted: { $exists: false } };
        const found = await sources.findOne(filter, { projection: changedFields });
        return found ? toChangeable(found) : undefined;
      }),
    findDeleted: (id) =>
      storeCall(async () => {
        const found = await sources.findOne({ _id: id, deleted: true }, { projection: { requestId: 1 } });
        return found ? { requestId: found.requestId ?? null } : undefined;
      }),
    matching: (conditions) =>
      storeCall(() =>
        translateTimeLimit(tooSlowDetail, async () => {
          const options = { projection: { _id: 1 }, maxTimeMS: maxQueryMs, batchSize: 10_000 } as const;
          const found = await sources.find(toFilter(conditions), options).toArray();
          return new Set(found.map(({ _id }) => _id));
        }),
      ),
    addReader: (id, reader) => storeCall(() => addReader(sources, id, reader)),
    removeTag: (tag) => storeCall(async () => void (await sources.updateMany({ tags: tag }, { $pull: { tags: tag } }))),
    removeAbandoned: () => storeCall(async () => removeAbandoned(sources, (await logged.tree()).revision)),
    pendingErasures: () =>
      storeCall(async () => {
        const found = await sources.find({ isErasurePending: true }, { projection: { _id: 1 } }).toArray();
        return found.map(({ _id }) => _id);
      }),
    finishErasure: (id) =>
      storeCall(async () => void (await sources.updateOne({ _id: id }, { $unset: { isErasurePending: 1 } }))),
  };
}

/** Reads some sources at a time, so that memory holds few texts that are not used. */
async function read(sources: mongo.Collection<SourceDocument>, ids: readonly number[]): Promise<StoredSource[]> {
  const all: StoredSource[] = [];
  const bytes = new Map<number, number>();
  for (let at = 0; at < ids.length; at += oneAtATime) {
    const part = ids.slice(at, at + oneAtATime);
    const filter = { _id: { $in: part }, version: { $gt: 0 }, deleted: { $exists: false } };
    const options = { projection: shownFields, raw: true, batchSize: part.length + 1 };
    const found = (await sources.find(filter, options).toArray()) as unknown as Uint8Array[];
    for (const document of found) {
      const { _id, ...fields } = readShown(document);
      const source = { id: _id, ...fields, readers: fields.readers ?? [] };
      all.push(source);
      bytes.set(_id, estimateShownBytes(source));
    }
    // The number of readers of a source is known only now.
    requirePageSize(ids.flatMap((id) => bytes.get(id) ?? []));
  }
  return all;
}

function toFilter({ tag, source, terms, in: place }: SourceConditions): mongo.Filter<SourceDocument> {
  const conditions: object[] = [
    ...(tag === undefined ? [] : [{ tags: tag }]),
    ...(source === undefined ? [] : [{ sourceHash: hashSource(source), source }]),
    ...(terms ? wordsQueries(place === 'title' ? ['titleWords'] : ['titleWords', 'textWords'], terms) : []),
  ];
  return { $and: conditions, version: { $gt: 0 } } as mongo.Filter<SourceDocument>;
}

async function addReader(sources: mongo.Collection<SourceDocument>, id: number, reader: Reader): Promise<void> {
  const others = {
    $filter: { input: { $ifNull: ['$readers', []] }, as: 'one', cond: { $ne: ['$$one.id', reader.id] } },
  };
  // A name is a value, whatever characters it begins with.
  const added = { $concatArrays: [others, [{ $literal: reader }]] };
  const filter = { _id: id, version: { $gt: 0 }, deleted: { $exists: false } };
  await sources.updateOne(filter, [{ $set: { readers: { $slice: [added, -maxReaders] } } }]);
}
