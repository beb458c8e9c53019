import { documentReader } from '@ticketing/store/document/document-reader.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import {
  type Order,
  type Position,
  type Range,
  rangesAfter,
  type Segment,
  segmentsOfField,
} from '@ticketing/store/document/ordered-ranges.ts';
import { storeCall, translateTimeLimit } from '@ticketing/store/document/store-error.ts';
import { isLargePage, maxPageBytes, requirePageSize, smallPageBytes } from '@ticketing/store/paging/page-budget.ts';
import { excludedFromReads, readDocument, type StoredTicket, storedTicket } from './document.ts';
import { customerActive, documentField } from './filter-query.ts';
import { isNotDeleted, type TicketCollection, type TicketDocument } from './schema.ts';

/** Lists of tickets. Errors of every operation: store_unavailable, search_too_slow. */
export interface TicketListStore {
  /** Errors: page_too_large, too_much_at_once. */
  page(request: PageRequest): Promise<Page>;
}

/** A list, and the part of it to read. Units: `now` in Unix seconds. */
interface PageRequest {
  query: Query;
  order: Order;
  now: number;
  limit: number;
  offset: number;
  /** The end of the previous page. */
  after: Position | undefined;
  withRawData: boolean;
  /** Returns how many bytes the tags of a ticket add to it in the list: they are not stored with it. */
  tagBytes(): Promise<(tagIds: readonly number[]) => number>;
  /** Whether the page is encoded at once, so that objects of open shape in it have a separate limit. */
  isEncodedAtOnce: boolean;
  /** Aborted when nobody waits for the page any more. */
  signal: AbortSignal;
  /** Takes the bytes of a large page from the budget of this process. Errors: too_much_at_once. */
  take(bytes: number): Promise<void>;
}

/** A part of a list. */
export interface Page {
  /** How many tickets it has; fewer are decoded if some were changed while it was read. */
  count: number;
  /** The bytes that were read of each ticket, in the order of `tickets`. */
  sizes: number[];
  /** The end of the page; undefined if no ticket follows. */
  end: Position | undefined;
  /**
   * Decodes the tickets. Call it after the last await: decoded tickets take many times the memory of the bytes from the
   * server, and if they are kept during an await, garbage collection takes as long as the rest of the search.
   */
  tickets(): StoredTicket[];
}

/** How long a query may run. */
export const maxQueryMs = 10_000;
/** The detail of search_too_slow. */
export const tooSlowDetail = 'This search takes too long. Narrow it by filters, or order by an indexed field.';

/** How long a process expects large pages after one. */
const largeForMs = 600_000;
/** The server reads this many tickets at a time to find out their sizes. */
const sizesAtOnce = 20;
/** How much of a large page is read at a time. */
const readBytes = 2 * 1024 * 1024;

const excludedFromLists = {
  ...excludedFromReads,
  ...{ body: 0, bodyHtml: 0, bodyPlain: 0, bodyClean: 0, bodyRules: 0 },
  ...{ workitem: 0, appliedRequests: 0, conversationIds: 0, draftIds: 0 },
};

export function ticketListStore(tickets: TicketCollection): TicketListStore {
  const large = largePages();
  return {
    page: (request) => storeCall(() => translateTimeLimit(tooSlowDetail, () => readPage(tickets, request, large))),
  };
}

async function readPage(tickets: TicketCollection, request: PageRequest, large: LargePages): Promise<Page> {
  const mayBeLarge = request.withRawData || large.wereRead();
  const page = mayBeLarge ? undefined : await readSmallPage(tickets, request);
  if (page) return page;
  const sized = await readLargePage(tickets, request);
  if (isLargePage(sized.sizes)) large.record();
  return sized;
}

/** Whether this process has lately met pages that are large without their raw data. */
interface LargePages {
  wereRead(): boolean;
  record(): void;
}

function largePages(): LargePages {
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    wereRead: () => performance.now() - lastAt < largeForMs,
    record() {
      lastAt = performance.now();
    },
  };
}

/** Reads a page at once; undefined if it has more bytes than a small page. */
async function readSmallPage(tickets: TicketCollection, request: PageRequest): Promise<Page | undefined> {
  let bytes = 0;
  const found = await readRanges(tickets, request, async (match, { sort, skip, limit }) => {
    const projection = toProjection(request);
    const options = { projection, sort, skip, limit, batchSize: limit, maxTimeMS: maxQueryMs, allowDiskUse: true };
    const cursor = tickets.find(match, { ...options, raw: true });
    const documents: Uint8Array[] = [];
    try {
      while (bytes <= smallPageBytes && (await cursor.hasNext())) {
        const batch = cursor.readBufferedDocuments() as unknown as Uint8Array[];
        bytes = batch.reduce((sum, document) => sum + document.length, bytes);
        documents.push(...batch);
      }
    } finally {
      await cursor.close();
    }
    return documents;
  });
  if (bytes > smallPageBytes) return undefined;
  const shown = found.slice(0, request.limit);
  const last = found.length > request.limit ? shown.at(-1) : undefined;
  return {
    count: shown.length,
    sizes: shown.map(({ item }) => item.length),
    end: last && toPosition(readDocument(last.item), last.range),
    tickets: () => shown.map(({ item }) => storedTicket(readDocument(item))),
  };
}

/** The size of a ticket of a page without its tags, and where it is in the order. */
interface SizedTicket extends TicketDocument {
  bytes: number;
  /** The bytes of its objects of open shape. */
  openBytes: number;
  tagIds: readonly number[];
}

/**
 * Reads the sizes of a page first, so that its bytes are taken from the budget of this process before any of them is
 * read, and so that the error for a page that is too large can name a limit that fits.
 */
async function readLargePage(tickets: TicketCollection, request: PageRequest): Promise<Page> {
  const found = await readSizes(tickets, request);
  const shown = found.slice(0, request.limit).map(({ item }) => item);
  const tagBytes = await request.tagBytes();
  const sizes = shown.map(({ bytes, tagIds }) => bytes + tagBytes(tagIds));
  requirePageSize(sizes, request.isEncodedAtOnce ? shown.map(({ openBytes }) => openBytes) : []);
  await request.take(sizes.reduce((sum, size) => sum + size, 0));
  request.signal.throwIfAborted();
  const documents = await readContents(tickets, request, shown);
  const last = found.length > request.limit ? found[request.limit - 1] : undefined;
  return {
    count: shown.length,
    sizes: documents.map((document) => document.length),
    end: last && toPosition(last.item, last.range),
    tickets: () => documents.map((document) => storedTicket(readDocument(document))),
  };
}

/** The tags of a ticket and of its customer. */
const allTagIds = { $concatArrays: ['$tagIds', { $ifNull: ['$customerTagIds', []] }] };
const openBytes = {
  $add: ['$rawData', '$clientData'].map((field) => ({ $strLenBytes: { $ifNull: [field, ''] } })),
};

/** Reads the sizes of the tickets of a page, until they are too large together. */
async function readSizes(
  tickets: TicketCollection,
  request: PageRequest,
): Promise<{ item: SizedTicket; range: Range }[]> {
  let bytes = 0;
  return readRanges(tickets, request, async (match, { sort, skip, limit, field }) => {
    const stages = [
      { $match: match },
      { $sort: sort },
      ...(skip > 0 ? [{ $skip: skip }] : []),
      { $limit: limit },
      { $project: toProjection(request) },
      { $project: { [field]: 1, tagIds: allTagIds, bytes: { $bsonSize: '$$ROOT' }, openBytes } },
    ];
    const options = { maxTimeMS: maxQueryMs, allowDiskUse: true, batchSize: sizesAtOnce };
    const cursor = tickets.aggregate<SizedTicket>(stages, options);
    const sized: SizedTicket[] = [];
    try {
      while (bytes <= maxPageBytes && (await cursor.hasNext())) {
        const batch = cursor.readBufferedDocuments();
        bytes = batch.reduce((sum, one) => sum + one.bytes, bytes);
        sized.push(...batch);
      }
    } finally {
      await cursor.close();
    }
    return sized;
  });
}

/** Reads tickets whose sizes are known, some at a time. Tickets that have changed and no longer match are left out. */
async function readContents(
  tickets: TicketCollection,
  request: PageRequest,
  sized: readonly SizedTicket[],
): Promise<Uint8Array[]> {
  const documents: Uint8Array[] = [];
  for (let start = 0; start < sized.length; ) {
    let end = start + 1;
    for (let bytes = sized[start]?.bytes ?? 0; end < sized.length; end++) {
      bytes += sized[end]?.bytes ?? 0;
      if (bytes > readBytes) break;
    }
    request.signal.throwIfAborted();
    const ids = sized.slice(start, end).map(({ _id }) => _id);
    const match = { $and: [{ _id: { $in: ids } }, request.query, isNotDeleted] };
    const options = { projection: toProjection(request), maxTimeMS: maxQueryMs, batchSize: ids.length + 1 };
    const found = (await tickets.find(match, { ...options, raw: true }).toArray()) as unknown as Uint8Array[];
    const byId = new Map(found.map((document) => [readId(document)._id, document]));
    documents.push(...ids.map((id) => byId.get(id)).filter((document) => document !== undefined));
    start = end;
  }
  return documents;
}

/** Decodes nothing else, because the other fields are large. */
const readId = documentReader<Pick<TicketDocument, '_id'>>(['_id']);

const toProjection = (request: PageRequest) =>
  request.withRawData ? excludedFromLists : { ...excludedFromLists, rawData: 0 };

/** Which part of a range to read. */
interface RangePart extends Pick<Range, 'sort' | 'field'> {
  skip: number;
  limit: number;
}

/** Reads the items of a page range by range, and one more than requested, which shows whether a ticket follows. */
async function readRanges<Item>(
  tickets: TicketCollection,
  request: PageRequest,
  read: (match: Query, part: RangePart) => Promise<Item[]>,
): Promise<{ item: Item; range: Range }[]> {
  const segments = toSegments(request.order, request.now);
  const found: { item: Item; range: Range }[] = [];
  let offset = request.offset;
  const wanted = request.limit + 1;
  for (const range of rangesAfter(segments, request.order, request.after)) {
    const match = { $and: [request.query, range.match, isNotDeleted] };
    const { sort, field } = range;
    const items = await read(match, { sort, field, skip: offset, limit: wanted - found.length });
    found.push(...items.map((item) => ({ item, range })));
    if (found.length >= wanted) break;
    if (items.length > 0) offset = 0;
    else if (offset > 0)
      offset = Math.max(0, offset - (await tickets.countDocuments(match, { maxTimeMS: maxQueryMs })));
  }
  return found;
}

function toPosition(document: TicketDocument, range: Range): Position {
  return { segment: range.segment, value: document[range.field], id: document._id };
}

/** The field of the document that orders a list by a key. For a list of ids, it has the smallest id. */
function orderField(key: string): string {
  if (key === 'tt.tagId') return 'minTagId';
  if (key === 'i.aiAgentId') return 'minAiAgentId';
  return documentField(key);
}

/** Fields that every ticket has. */
const neverUnset = new Set([
  '_id',
  'channel',
  'direction',
  'status',
  'priority',
  'aiSupportLevel',
  'createdAt',
  'modifiedAt',
]);

/**
 * Splits an order into segments: the tickets of one segment come before those of the next.
 *
 * Units: `now` in Unix seconds; who is active depends on it.
 */
function toSegments(order: Order, now: number): Segment[] {
  if (order.key === 't.isCustomerActive') {
    const active: Segment = { match: customerActive(now), field: '_id' };
    const inactive: Segment = { match: { $nor: [customerActive(now)] }, field: '_id' };
    return order.direction === 1 ? [inactive, active] : [active, inactive];
  }
  const field = orderField(order.key);
  return segmentsOfField(field, neverUnset.has(field));
}
