import type { Query } from '@ticketing/store/document/field-query.ts';
import { type Order, rangesAfter, segmentsOfField } from '@ticketing/store/document/ordered-ranges.ts';
import { storeCall, translateTimeLimit } from '@ticketing/store/document/store-error.ts';
import type { mongo } from 'mongoose';
import { computedColumn, rowColumns } from '../rules/columns.ts';
import type { RowDocument } from './schema.ts';

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

/**
 * Called with the bytes of a page before it is read. Returns the function that is called when the reader asks for the
 * next page, or stops.
 */
export type AdmitPage = (bytes: number) => Promise<() => void>;

const pageSize = 200;
/** The column whose texts can be long: 8 MiB, while all others of a row together have a few kB. */
const largeColumn = 'rawData';
/**
 * Longer texts are read in a second step, so that a batch of 200 rows has at most 3 MiB of them instead of 16. Rows
 * with texts of 20 kB then take an eighth longer; rows with shorter texts do not.
 */
const maxFirstBytes = 16 * 1024;
const maxPageBytes = 1024 * 1024;
const tooSlowDetail = 'This export takes too long. Narrow it by filters, or request it with Prefer: respond-async.';
const isNotErased: Query = { erasedAt: null };
const alwaysSet = new Set(['_id', ...rowColumns.filter((column) => column.isAlwaysSet).map(({ name }) => name)]);

/** Counts the rows that match. Errors: search_too_slow. */
export function countRows(collection: mongo.Collection<RowDocument>, filter: RowFilter): Promise<number> {
  return translateTimeLimit(tooSlowDetail, () => countMatches(collection, matchStages(filter), filter));
}

/**
 * Reads rows in order, in pages of at most 200 rows and 1 MiB of raw data; a page of one row may have more. A row whose
 * raw data is read later than its other columns is read again whole, and left out if it no longer matches.
 *
 * Errors: search_too_slow; those of `admit`.
 */
export async function* readPages(
  collection: mongo.Collection<RowDocument>,
  request: RowRequest,
  admit: AdmitPage = async () => () => undefined,
): AsyncGenerator<RowDocument[]> {
  const base = matchStages(request, orderField(request));
  for await (const batch of readBatches(collection, request, base)) {
    for (const page of splitBySize(batch)) {
      const release = await admit(page.bytes);
      try {
        yield page.rows.some(isIncomplete) ? await readAgain(collection, request, base, page.rows) : page.rows;
      } finally {
        release();
      }
    }
  }
}

function orderField({ order }: RowRequest): string {
  return order.key === 'id' ? '_id' : order.key;
}

/** Reads rows in order; a long text is replaced by its size in bytes. */
async function* readBatches(
  collection: mongo.Collection<RowDocument>,
  request: RowRequest,
  base: readonly Query[],
): AsyncGenerator<RowDocument[]> {
  const field = orderField(request);
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
        { $project: toProjection(request) },
        ...(request.columns.includes(largeColumn) ? [withoutLongTexts] : []),
      ],
      { allowDiskUse: true, batchSize: pageSize, ...timeLimit(request) },
    );
    let count = 0;
    for await (const batch of batchesOfCursor(cursor)) {
      count += batch.length;
      yield batch;
    }
    left -= count;
    if (count > 0) offset = 0;
    else if (offset > 0) {
      // The offset skips this whole range; the next range skips the rest of it.
      const passed = await translateTimeLimit(tooSlowDetail, () => countMatches(collection, stages, request));
      offset = Math.max(0, offset - passed);
    }
  }
}

// A separate stage: with an expression in it, the projection above would take a third longer.
const sizeOfLarge = { $strLenBytes: { $ifNull: [`$${largeColumn}`, ''] } };
const withoutLongTexts = {
  $set: { [largeColumn]: { $cond: [{ $gt: [sizeOfLarge, maxFirstBytes] }, sizeOfLarge, `$${largeColumn}`] } },
};

function toProjection({ columns }: RowRequest): Query {
  return Object.fromEntries(columns.map((name) => [name, 1]));
}

/** Whether the long text of a row is replaced by its size. */
const isIncomplete = (row: RowDocument) => typeof row[largeColumn] === 'number';

function countLargeBytes({ [largeColumn]: text }: RowDocument): number {
  if (typeof text === 'number') return text;
  return typeof text === 'string' ? text.length : 0;
}

/** Splits rows into pages of at most 1 MiB of long texts; each page has at least one row. */
function splitBySize(batch: readonly RowDocument[]): { rows: RowDocument[]; bytes: number }[] {
  const pages: { rows: RowDocument[]; bytes: number }[] = [];
  for (const row of batch) {
    const bytes = countLargeBytes(row);
    const last = pages.at(-1);
    if (last && last.bytes + bytes <= maxPageBytes) {
      last.rows.push(row);
      last.bytes += bytes;
    } else pages.push({ rows: [row], bytes });
  }
  return pages;
}

/** Reads the incomplete rows of a page whole. */
async function readAgain(
  collection: mongo.Collection<RowDocument>,
  request: RowRequest,
  base: readonly Query[],
  rows: readonly RowDocument[],
): Promise<RowDocument[]> {
  const ids = rows.filter(isIncomplete).map(({ _id }) => _id);
  const stages = [{ $match: { _id: { $in: ids } } }, ...base, { $project: toProjection(request) }];
  const cursor = collection.aggregate<RowDocument>(stages, { batchSize: ids.length, ...timeLimit(request) });
  const read = await translateTimeLimit(tooSlowDetail, () => storeCall(() => cursor.toArray()));
  const found = new Map(read.map((row) => [row._id, row]));
  return rows.flatMap((row) => (isIncomplete(row) ? (found.get(row._id) ?? []) : row));
}

async function* batchesOfCursor(cursor: mongo.AggregationCursor<RowDocument>): AsyncGenerator<RowDocument[]> {
  const next = () => translateTimeLimit(tooSlowDetail, () => nextBatch(cursor));
  try {
    for (let batch = await next(); batch.length > 0; batch = await next()) yield batch;
  } finally {
    await cursor.close();
  }
}

async function nextBatch(cursor: mongo.AggregationCursor<RowDocument>): Promise<RowDocument[]> {
  return storeCall(async () => ((await cursor.hasNext()) ? cursor.readBufferedDocuments() : []));
}

/** Returns the stages that select the rows that meet all conditions, and add the computed column where it is needed. */
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

async function countMatches(
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
