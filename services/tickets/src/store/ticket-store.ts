import { DomainError } from '@ticketing/rest/domain-error.ts';
import { type Connection, type Model, mongo, Schema } from 'mongoose';
import type { TicketEvent } from '../domain/ticket-event.ts';
import { isDuplicateKey, reachable } from './database.ts';
import type { Query } from './filter-query.ts';
import { changedDocument, documentOf, stateOf } from './ticket-document.ts';
import type { TicketFieldName, TicketState } from './ticket-fields.ts';
import { type TicketDocument, ticketModel } from './ticket-model.ts';
import { type Order, type Position, type Range, rangesBehind, segmentsOf } from './ticket-order.ts';

/** The tickets of this service. Every write stores its event in the same update. */
export interface TicketStore {
  /** Answers false if the id is taken. */
  insert(ticket: TicketState, event: TicketEvent): Promise<boolean>;
  find(id: number): Promise<StoredTicket | undefined>;
  findByExternalId(externalTicketId: string): Promise<StoredTicket | undefined>;
  /** Writes a change of the version that was read; answers false if the ticket has moved on. */
  update(
    before: TicketState,
    after: TicketState,
    changed: readonly TicketFieldName[],
    event: TicketEvent,
  ): Promise<boolean>;
  page(request: PageRequest): Promise<Page>;
  count(query: Query): Promise<number>;
  /** Binds an external id to a proposed ticket id, unless it is bound; answers the ticket id that it is bound to. */
  claimExternalId(externalTicketId: string, proposed: number): Promise<number>;
}

/** A ticket and who works on it. */
export interface StoredTicket {
  ticket: TicketState;
  workedOn: readonly { profileId: number; at: number }[];
}

/** Which part of which list to read. Units: `now` in Unix seconds. */
export interface PageRequest {
  query: Query;
  order: Order;
  now: number;
  limit: number;
  offset: number;
  behind: Position | undefined;
  withRawData: boolean;
}

/** A part of a list; `end` is where it ended, undefined if nothing follows. */
export interface Page {
  tickets: readonly StoredTicket[];
  end: Position | undefined;
}

interface ExternalIdDocument {
  _id: string;
  ticketId: number;
}

const maxQueryMs = 10_000;
const leftOutOfReads = { words: 0, outbox: 0 };
const leftOutOfLists = { ...leftOutOfReads, body: 0, bodyPlain: 0, bodyClean: 0, workitem: 0 };

/** Opens the tickets on a connection. Errors of every operation: store_unavailable; of lists also search_too_slow. */
export function ticketStore(connection: Connection): TicketStore {
  const tickets = ticketModel(connection);
  const externalIds = externalIdModel(connection);
  const findOne = (query: Query) =>
    reachable(async () => {
      const document = await tickets.findOne(query, leftOutOfReads).lean<TicketDocument>();
      return document ? storedTicket(document) : undefined;
    });
  return {
    insert: (ticket, event) =>
      reachable(async () => {
        try {
          // Past mongoose: its casting costs more than the write, and `documentOf` is typed field by field.
          await tickets.collection.insertOne(documentOf(ticket, event) as never);
          return true;
        } catch (error) {
          if (isDuplicateKey(error)) return false;
          throw error;
        }
      }),
    find: (id) => findOne({ _id: id }),
    findByExternalId: (externalTicketId) => findOne({ externalTicketId }),
    update: (before, after, changed, event) =>
      reachable(async () => {
        const result = await tickets.updateOne(
          { _id: before.id, version: before.version },
          { $set: changedDocument(after, changed), $push: { outbox: event } },
        );
        return result.matchedCount === 1;
      }),
    page: (request) => reachable(() => inTime(() => readPage(tickets, request))),
    count: (query) =>
      reachable(() => inTime(() => tickets.countDocuments(countable(query), { maxTimeMS: maxQueryMs }))),
    claimExternalId: (externalTicketId, proposed) =>
      reachable(async () => {
        try {
          await externalIds.collection.insertOne({ _id: externalTicketId, ticketId: proposed } as never);
          return proposed;
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
        const claim = await externalIds.findById(externalTicketId).lean();
        if (!claim) throw new DomainError('aborted', 'concurrent_change', 'The ticket is being deleted.');
        return claim.ticketId;
      }),
  };
}

function externalIdModel(connection: Connection): Model<ExternalIdDocument> {
  const schema = new Schema<ExternalIdDocument>(
    { _id: String, ticketId: Number },
    { versionKey: false, collection: 'externalIds' },
  );
  return connection.model<ExternalIdDocument>('ExternalId', schema);
}

function storedTicket(document: TicketDocument): StoredTicket {
  const workedOn = document.workedOn.map(({ profileId, at }) => ({ profileId, at: at.getTime() / 1000 }));
  return { ticket: stateOf(document), workedOn };
}

/** Without conditions, all ids: an index tells their number, where a scan of the tickets would read every body. */
function countable(query: Query): Query {
  return Object.keys(query).length === 0 ? { _id: { $gt: 0 } } : query;
}

async function readPage(tickets: Model<TicketDocument>, request: PageRequest): Promise<Page> {
  const segments = segmentsOf(request.order, request.now);
  const ranges = rangesBehind(segments, request.order, request.behind);
  const projection = request.withRawData ? leftOutOfLists : { ...leftOutOfLists, rawData: 0 };
  const found: { document: TicketDocument; range: Range }[] = [];
  let offset = request.offset;
  // One more than asked for tells whether anything follows.
  const wanted = request.limit + 1;
  for (const range of ranges) {
    const match = { $and: [request.query, range.match] };
    const documents = await tickets
      .find(match, projection, { maxTimeMS: maxQueryMs, allowDiskUse: true })
      .sort(range.sort)
      .skip(offset)
      .limit(wanted - found.length)
      .lean<TicketDocument[]>();
    found.push(...documents.map((document) => ({ document, range })));
    if (found.length >= wanted) break;
    if (documents.length > 0) offset = 0;
    else if (offset > 0) offset -= await tickets.countDocuments(match, { maxTimeMS: maxQueryMs });
  }
  const page = found.slice(0, request.limit);
  const last = page[page.length - 1];
  return {
    tickets: page.map(({ document }) => storedTicket(document)),
    end: found.length > request.limit && last ? positionOf(last.document, last.range) : undefined,
  };
}

function positionOf(document: TicketDocument, range: Range): Position {
  return { segment: range.segment, value: document[range.field], id: document._id };
}

async function inTime<Result>(operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof mongo.MongoServerError && error.code === 50) {
      const detail = 'This search takes too long. Narrow it by filters, or order by an indexed field.';
      throw new DomainError('deadline_exceeded', 'search_too_slow', detail, { cause: error });
    }
    throw error;
  }
}
