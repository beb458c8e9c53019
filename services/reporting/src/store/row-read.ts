import type { Query } from '@ticketing/store/field-query.ts';
import { type Order, rangesAfter, segmentsOfField } from '@ticketing/store/ordered-ranges.ts';
import { storeCall, translateTimeLimit } from '@ticketing/store/store-error.ts';
import type { mongo } from 'mongoose';
import { computedColumn, rowColumns } from '../domain/row-columns.ts';
import type { RowDocument } from './row-model.ts';

/** Which rows to read. Units: `now` in Unix seconds. */
export interface RowRequest {
  /** Conditions that a row must meet, each with the column that it is about. */
  queries: readonly { column: string; query: Query }[];
  order: Order;
  now: number;
  offset: number;
  /** Undefined: all rows. */
  limit: number | undefined;
  /** The stored columns to read. */
  columns: readonly string[];
  /** How long the database may search, in ms. Undefined: without limit. */
  maxTimeMs: number | undefined;
}

/** The part of a request that decides which rows match. */
export type RowFilter = Pick<RowRequest, 'queries' | 'now' | 'maxTimeMs'>;

const pageSize = 200;
const tooSlowDetail = 'This export takes too long. Narrow it by filters, or request it with Prefer: respond-async.';
const isNotErased: Query = { erasedAt: null };
const alwaysSet = new Set(['_id', ...rowColumns.filter((column) => column.isAlwaysSet).map(({ name }) => name)]);

/** Counts the rows that match. Errors: search_too_slow. */
export function countRows(collection: mongo.Collection<RowDocument>, filter: RowFilter): Promise<number> {
  return translateTimeLimit(tooSlowDetail, () => countOf(collection, matchStages(filter), filter));
}

/** Reads rows in order, in pages of at most 200. Errors: search_too_slow. */
export async function* readPages(
  collection: mongo.Collection<RowDocument>,
  request: RowRequest,
): AsyncGenerator<RowDocument[]> {
  const field = request.order.key === 'id' ? '_id' : request.order.key;
  const base = matchStages(request, field);
  const ranges = rangesAfter(segmentsOfField(field, alwaysSet.has(field)), request.order, undefined);
  let { offset } = request;
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  for (const range of ranges) {
    if (left <= 0) return;
    const stages = [...base, { $match: range.match }];
    const cursor = collection.aggregate<RowDocument>(
      [
        ...stages,
        { $sort: range.sort },
        ...(offset > 0 ? [{ $skip: offset }] : []),
        ...(Number.isFinite(left) ? [{ $limit: left }] : []),
        { $project: Object.fromEntries(request.columns.map((name) => [name, 1])) },
      ],
      { allowDiskUse: true, batchSize: pageSize, ...timeLimit(request) },
    );
    let count = 0;
    for await (const page of pagesOfCursor(cursor)) {
      count += page.length;
      yield page;
    }
    left -= count;
    if (count > 0) offset = 0;
    else if (offset > 0) {
      // The offset skips this whole range; the next range skips the rest of it.
      const passed = await translateTimeLimit(tooSlowDetail, () => countOf(collection, stages, request));
      offset = Math.max(0, offset - passed);
    }
  }
}

async function* pagesOfCursor(cursor: mongo.AggregationCursor<RowDocument>): AsyncGenerator<RowDocument[]> {
  const next = () => translateTimeLimit(tooSlowDetail, () => nextPage(cursor));
  try {
    for (let page = await next(); page.length > 0; page = await next()) yield page;
  } finally {
    await cursor.close();
  }
}

/** The next batch from the server. It has fewer than 200 rows if they are large. */
async function nextPage(cursor: mongo.AggregationCursor<RowDocument>): Promise<RowDocument[]> {
  return storeCall(async () => ((await cursor.hasNext()) ? cursor.readBufferedDocuments() : []));
}

/** The stages that select the rows that meet all conditions, and add the computed column where it is needed. */
function matchStages({ queries, now }: Pick<RowFilter, 'queries' | 'now'>, orderColumn?: string): Query[] {
  const onComputed = queries.filter(({ column }) => column === computedColumn);
  const onStored = queries.filter(({ column }) => column !== computedColumn);
  const isComputed = onComputed.length > 0 || orderColumn === computedColumn;
  return [
    { $match: { $and: [isNotErased, ...onStored.map(({ query }) => query)] } },
    ...(isComputed ? [{ $addFields: { [computedColumn]: secondsSinceLastCustomerMessage(now) } }] : []),
    ...onComputed.map(({ query }) => ({ $match: query })),
  ];
}

/** Null in rows without a message of the customer. */
function secondsSinceLastCustomerMessage(now: number): Query {
  const until = { $ifNull: ['$closedAt', new Date(now * 1000)] };
  const seconds = { $floor: { $divide: [{ $subtract: [until, '$lastCustomerMessageAt'] }, 1000] } };
  return { $cond: [{ $gt: ['$lastCustomerMessageAt', null] }, seconds, null] };
}

async function countOf(
  collection: mongo.Collection<RowDocument>,
  stages: readonly Query[],
  limit: Pick<RowFilter, 'maxTimeMs'>,
): Promise<number> {
  const counting = [...stages, { $count: 'count' }];
  const [found] = await collection.aggregate<{ count: number }>(counting, timeLimit(limit)).toArray();
  return found?.count ?? 0;
}

function timeLimit({ maxTimeMs }: Pick<RowFilter, 'maxTimeMs'>): { maxTimeMS?: number } {
  return maxTimeMs === undefined ? {} : { maxTimeMS: maxTimeMs };
}
