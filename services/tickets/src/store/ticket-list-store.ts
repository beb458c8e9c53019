import type { Query } from '@ticketing/store/field-query.ts';
import { type Order, type Position, type Range, rangesAfter } from '@ticketing/store/ordered-ranges.ts';
import { storeCall, translateTimeLimit } from '@ticketing/store/store-error.ts';
import { leftOutOfReads, readDocument, type StoredTicket, storedTicket } from './stored-ticket.ts';
import { isDeleted, isNotDeleted, type TicketCollection, type TicketDocument } from './ticket-model.ts';
import { segmentsOf } from './ticket-order.ts';

/** Lists of tickets. Errors of every operation: store_unavailable, search_too_slow. */
export interface TicketListStore {
  page(request: PageRequest): Promise<Page>;
  /**
   * Counts the tickets that match. `matchesUnset`: the query may match a document that has none of the fields of a
   * ticket.
   */
  count(query: Query, matchesUnset: boolean): Promise<number>;
}

/** A list, and the part of it to read. Units: `now` in Unix seconds. */
export interface PageRequest {
  query: Query;
  order: Order;
  now: number;
  limit: number;
  offset: number;
  /** Where the page before ended. */
  after: Position | undefined;
  withRawData: boolean;
}

/** A part of a list. */
export interface Page {
  count: number;
  /** Where it ends; undefined if no ticket follows. */
  end: Position | undefined;
  /**
   * Decodes the tickets. Call it after the last await: decoded tickets take many times the memory of
   * the bytes from the server, and if they are kept during an await, garbage collection takes as long as the rest of the
   * search.
   */
  tickets(): StoredTicket[];
}

/** How long a query may run. */
export const maxQueryMs = 10_000;
/** The detail of search_too_slow. */
export const tooSlowDetail = 'This search takes too long. Narrow it by filters, or order by an indexed field.';

const leftOutOfLists = {
  ...leftOutOfReads,
  ...{ body: 0, bodyHtml: 0, bodyPlain: 0, bodyClean: 0, bodyRules: 0 },
  ...{ workitem: 0, appliedRequests: 0 },
};

/** Opens the lists of a collection of tickets. */
export function ticketListStore(tickets: TicketCollection): TicketListStore {
  const count = (query: Query) => tickets.countDocuments(query, { maxTimeMS: maxQueryMs });
  return {
    page: (request) => storeCall(() => translateTimeLimit(tooSlowDetail, () => readPage(tickets, request))),
    count: (query, matchesUnset) =>
      storeCall(() =>
        translateTimeLimit(tooSlowDetail, async () => {
          const all = await count(countQuery(query));
          return matchesUnset ? Math.max(0, all - (await count({ $and: [query, isDeleted] }))) : all;
        }),
      ),
  };
}

/**
 * Adds a condition on the id to a query without conditions: MongoDB then counts the entries of the index instead of
 * reading every ticket.
 */
function countQuery(query: Query): Query {
  return Object.keys(query).length === 0 ? { _id: { $gt: 0 } } : query;
}

async function readPage(tickets: TicketCollection, request: PageRequest): Promise<Page> {
  const segments = segmentsOf(request.order, request.now);
  const ranges = rangesAfter(segments, request.order, request.after);
  const projection = request.withRawData ? leftOutOfLists : { ...leftOutOfLists, rawData: 0 };
  const found: { bytes: Uint8Array; range: Range }[] = [];
  let offset = request.offset;
  // One more than requested shows whether a ticket follows.
  const wanted = request.limit + 1;
  for (const range of ranges) {
    const match = { $and: [request.query, range.match, isNotDeleted] };
    const part = { projection, sort: range.sort, skip: offset, limit: wanted - found.length };
    const options = { ...part, maxTimeMS: maxQueryMs, allowDiskUse: true, raw: true };
    const documents = (await tickets.find(match, options).toArray()) as unknown as Uint8Array[];
    found.push(...documents.map((bytes) => ({ bytes, range })));
    if (found.length >= wanted) break;
    if (documents.length > 0) offset = 0;
    else if (offset > 0)
      offset = Math.max(0, offset - (await tickets.countDocuments(match, { maxTimeMS: maxQueryMs })));
  }
  const shown = found.slice(0, request.limit);
  const last = found.length > request.limit ? shown.at(-1) : undefined;
  return {
    count: shown.length,
    end: last && positionOf(readDocument(last.bytes), last.range),
    // Decoded one by one, so that the memory of each document is free before the next is decoded.
    tickets: () => shown.map(({ bytes }) => storedTicket(readDocument(bytes))),
  };
}

function positionOf(document: TicketDocument, range: Range): Position {
  return { segment: range.segment, value: document[range.field], id: document._id };
}
