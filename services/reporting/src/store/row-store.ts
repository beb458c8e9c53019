import type { Query } from '@ticketing/store/field-query.ts';
import { type Order, rangesAfter, segmentsOfField } from '@ticketing/store/ordered-ranges.ts';
import { duplicatesIn, isDuplicateKey, storeCall, translateTimeLimit } from '@ticketing/store/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import type { Row } from '../domain/row.ts';
import { computedColumn, rowColumns } from '../domain/row-columns.ts';
import { buildRowIndexes, documentOf, type RowDocument, rowCollection } from './row-model.ts';

/**
 * The rows of this service: one per ticket, and what is left of those that were erased. There may be two generations of
 * them, the one that is read and one that is being built beside it; both are written.
 *
 * Errors of every operation: store_unavailable.
 */
export interface RowStore {
  /**
   * Writes rows, unless what is stored is newer or was erased. Answers the ids of those that are newer in one respect and
   * older in the other, ticket and names of tags: they must be read anew.
   */
  put(rows: readonly Row[], tagRevision: number): Promise<number[]>;
  /** Erases a row, or sees to it that none is written of an older version. */
  erase(id: number, version: number): Promise<void>;
  /** Removes a row of a ticket that never was, unless it is newer by now. */
  remove(id: number, version: number): Promise<void>;
  /** The rows that show the name of a tag, behind an id. */
  withTag(tagId: number, afterId: number, limit: number): Promise<number[]>;
  /** Those of some ids that were erased. */
  erasedAmong(ids: readonly number[]): Promise<Set<number>>;
  count(request: Pick<RowRequest, 'queries' | 'now' | 'maxTimeMs'>): Promise<number>;
  /** Reads rows in pages of some hundred. */
  pages(request: RowRequest): AsyncIterable<RowDocument[]>;
  /** The versions in a generation from one id on to another. */
  versions(generation: number, afterId: number, upToId: number): Promise<RowVersion[]>;
  generations(): Promise<Generations>;
  /** Begins a generation beside the one that is read, or goes on with one that was begun. */
  startBuilding(): Promise<number>;
  /** Lets the generation that was built be read, and drops the other. */
  finishBuilding(generation: number): Promise<void>;
  /** Drops generations that are neither read nor built: what was written late to one, or left by a crash. */
  removeOld(): Promise<void>;
}

/** Which rows to read. Units: `now` in Unix seconds. */
export interface RowRequest {
  /** Conditions on columns, by the column. */
  queries: readonly { column: string; query: Query }[];
  order: Order;
  now: number;
  offset: number;
  /** Undefined: all. */
  limit: number | undefined;
  /** The columns that are read. */
  columns: readonly string[];
  /** How long the server may look for rows, in ms; undefined: as long as it takes. */
  maxTimeMs: number | undefined;
}

/** The version of a row. */
export interface RowVersion {
  id: number;
  version: number;
  isErased: boolean;
}

/** Which generations of the rows there are. */
export interface Generations {
  active: number;
  building: number | null;
}

interface GenerationDocument extends Generations {
  _id: string;
}

const generationsId = 'rows';
const pageSize = 200;
const tooSlow = 'This export takes too long. Narrow it by filters, or ask for it by Prefer: respond-async.';
const isAlive: Query = { erasedAt: null };
const alwaysSet = new Set(['_id', ...rowColumns.filter((column) => column.isAlwaysSet).map(({ name }) => name)]);

/** Opens the rows on a connection. */
export function rowStore(connection: Connection): RowStore {
  const projections = connection.collection('projections') as unknown as mongo.Collection<GenerationDocument>;

  async function generations(): Promise<Generations> {
    const known = await projections.findOne({ _id: generationsId });
    return { active: known?.active ?? 1, building: known?.building ?? null };
  }

  async function written(): Promise<mongo.Collection<RowDocument>[]> {
    const { active, building } = await generations();
    const all = building === null ? [active] : [active, building];
    return all.map((generation) => rowCollection(connection, generation));
  }

  async function read(): Promise<mongo.Collection<RowDocument>> {
    return rowCollection(connection, (await generations()).active);
  }

  async function dropOld(): Promise<void> {
    const collections = await connection.listCollections();
    // After the list: a generation that is begun now is not in it.
    const { active, building } = await generations();
    for (const { name } of collections) {
      const generation = Number(/^rows(\d+)$/.exec(name)?.[1] ?? Number.NaN);
      if (generation < active && generation !== building) await connection.dropCollection(name);
    }
  }

  return {
    put: (rows, tagRevision) =>
      storeCall(async () => {
        const again = new Set<number>();
        for (const collection of await written()) {
          for (const id of await putInto(collection, rows, tagRevision)) again.add(id);
        }
        return [...again];
      }),
    erase: (id, version) =>
      storeCall(async () => {
        for (const collection of await written()) await eraseFrom(collection, id, version);
      }),
    remove: (id, version) =>
      storeCall(async () => {
        for (const collection of await written()) await collection.deleteOne({ _id: id, version: { $lte: version } });
      }),
    withTag: (tagId, afterId, limit) =>
      storeCall(async () => {
        const ids = new Set<number>();
        for (const collection of await written()) {
          const query = { tagPathIds: tagId, _id: { $gt: afterId } };
          const found = await collection.find(query, { projection: { _id: 1 }, sort: { _id: 1 }, limit }).toArray();
          for (const { _id } of found) ids.add(_id);
        }
        return [...ids].sort((left, right) => left - right).slice(0, limit);
      }),
    erasedAmong: (ids) =>
      storeCall(async () => {
        const query = { _id: { $in: [...ids] }, erasedAt: { $exists: true } };
        const found = await (await read()).find(query, { projection: { _id: 1 } }).toArray();
        return new Set(found.map(({ _id }) => _id));
      }),
    count: (request) =>
      storeCall(async () => {
        const collection = await read();
        return translateTimeLimit(tooSlow, () => countOf(collection, matching(request), limitOf(request)));
      }),
    async *pages(request) {
      yield* pagesOf(await storeCall(read), request);
    },
    versions: (generation, afterId, upToId) =>
      storeCall(async () => {
        const query = { _id: { $gt: afterId, $lte: upToId } };
        const projection = { version: 1, erasedAt: 1 };
        const found = await rowCollection(connection, generation)
          .find(query, { projection, sort: { _id: 1 } })
          .toArray();
        return found.map(({ _id, version, erasedAt }) => ({ id: _id, version, isErased: erasedAt !== undefined }));
      }),
    generations: () => storeCall(generations),
    startBuilding: () =>
      storeCall(async () => {
        const before = await generations();
        if (before.building !== null) return before.building;
        const building = before.active + 1;
        await buildRowIndexes(connection, building);
        await projections.updateOne(
          { _id: generationsId },
          { $set: { active: before.active, building } },
          { upsert: true },
        );
        return building;
      }),
    removeOld: () => storeCall(dropOld),
    finishBuilding: (generation) =>
      storeCall(async () => {
        const { active } = await generations();
        const switched = await projections.updateOne(
          { _id: generationsId, active, building: generation },
          { $set: { active: generation, building: null } },
        );
        if (switched.matchedCount === 1) await dropOld();
      }),
  };
}

async function putInto(
  collection: mongo.Collection<RowDocument>,
  rows: readonly Row[],
  tagRevision: number,
): Promise<number[]> {
  if (rows.length === 0) return [];
  const writes = rows.map((row) => ({
    replaceOne: {
      filter: {
        _id: row.id,
        version: { $lte: row.version },
        tagRevision: { $lte: tagRevision },
        erasedAt: null,
      },
      replacement: documentOf(row, tagRevision),
      upsert: true,
    },
  }));
  try {
    await collection.bulkWrite(writes as never, { ordered: false });
    return [];
  } catch (error) {
    const refused = duplicatesIn(error);
    if (!refused) throw error;
    const ids = refused.flatMap((index) => rows[index]?.id ?? []);
    const stored = await collection
      .find({ _id: { $in: ids } }, { projection: { version: 1, tagRevision: 1, erasedAt: 1 } })
      .toArray();
    const given = new Map(rows.map((row) => [row.id, row]));
    return stored
      .filter((one) => {
        const isNewer = one.version >= (given.get(one._id)?.version ?? 0) && one.tagRevision >= tagRevision;
        return one.erasedAt === undefined && !isNewer;
      })
      .map(({ _id }) => _id);
  }
}

async function eraseFrom(collection: mongo.Collection<RowDocument>, id: number, version: number): Promise<void> {
  const replacement = { version, tagRevision: 0, erasedAt: new Date() };
  const filter = { _id: id, version: { $lte: version }, erasedAt: null };
  for (;;) {
    try {
      await collection.replaceOne(filter as never, replacement as never, { upsert: true });
      return;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const stored = await collection.findOne({ _id: id }, { projection: { version: 1, erasedAt: 1 } });
    // Else it is a row that was written while it was looked for.
    if (stored?.erasedAt !== undefined || (stored?.version ?? 0) > version) return;
  }
}

/** The stages that leave the rows for which all conditions hold. */
function matching({ queries, now }: Pick<RowRequest, 'queries' | 'now'>, orderColumn?: string): Query[] {
  const onComputed = queries.filter(({ column }) => column === computedColumn);
  const onStored = queries.filter(({ column }) => column !== computedColumn);
  const isComputed = onComputed.length > 0 || orderColumn === computedColumn;
  return [
    { $match: { $and: [isAlive, ...onStored.map(({ query }) => query)] } },
    ...(isComputed ? [{ $addFields: { [computedColumn]: computed(now) } }] : []),
    ...onComputed.map(({ query }) => ({ $match: query })),
  ];
}

/** Unset without a message of the customer. */
function computed(now: number): Query {
  const until = { $ifNull: ['$closedAt', new Date(now * 1000)] };
  const seconds = { $floor: { $divide: [{ $subtract: [until, '$lastCustomerMessageAt'] }, 1000] } };
  return { $cond: [{ $gt: ['$lastCustomerMessageAt', null] }, seconds, null] };
}

async function* pagesOf(collection: mongo.Collection<RowDocument>, request: RowRequest): AsyncGenerator<RowDocument[]> {
  const field = request.order.key === 'id' ? '_id' : request.order.key;
  const base = matching(request, field);
  const ranges = rangesAfter(segmentsOfField(field, alwaysSet.has(field)), request.order, undefined);
  let { offset } = request;
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  for (const range of ranges) {
    if (left <= 0) return;
    const stages = [...base, { $match: range.match }];
    const part = [
      { $sort: range.sort },
      ...(offset > 0 ? [{ $skip: offset }] : []),
      ...(Number.isFinite(left) ? [{ $limit: left }] : []),
      { $project: Object.fromEntries(request.columns.map((name) => [name, 1])) },
    ];
    const cursor = collection.aggregate<RowDocument>([...stages, ...part], {
      allowDiskUse: true,
      batchSize: pageSize,
      ...limitOf(request),
    });
    let count = 0;
    try {
      const next = () => translateTimeLimit(tooSlow, () => nextPage(cursor));
      for (let page = await next(); page.length > 0; page = await next()) {
        count += page.length;
        yield page;
      }
    } finally {
      await cursor.close();
    }
    left -= count;
    if (count > 0) offset = 0;
    else if (offset > 0)
      offset = Math.max(
        0,
        offset - (await translateTimeLimit(tooSlow, () => countOf(collection, stages, limitOf(request)))),
      );
  }
}

function limitOf({ maxTimeMs }: Pick<RowRequest, 'maxTimeMs'>): { maxTimeMS?: number } {
  return maxTimeMs === undefined ? {} : { maxTimeMS: maxTimeMs };
}

/** What the server sends at a time: some hundred rows, or fewer large ones. */
async function nextPage(cursor: mongo.AggregationCursor<RowDocument>): Promise<RowDocument[]> {
  return storeCall(async () => ((await cursor.hasNext()) ? cursor.readBufferedDocuments() : []));
}

async function countOf(
  collection: mongo.Collection<RowDocument>,
  stages: readonly Query[],
  limit: { maxTimeMS?: number },
): Promise<number> {
  const [found] = await collection.aggregate<{ count: number }>([...stages, { $count: 'count' }], limit).toArray();
  return found?.count ?? 0;
}
