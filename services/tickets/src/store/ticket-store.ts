import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { outboxPush } from '@ticketing/events/outbox/outbox.ts';
import { storeCall, translateTimeLimit } from '@ticketing/store/database.ts';
import { documentReader } from '@ticketing/store/document-reader.ts';
import type { Query } from '@ticketing/store/field-query.ts';
import { gatheredInsert } from '@ticketing/store/gathered-insert.ts';
import { type Order, type Position, type Range, rangesBehind } from '@ticketing/store/ordered-ranges.ts';
import { type Connection, type Model, mongo, Schema } from 'mongoose';
import type { RoutingOrder } from '../domain/queue-order.ts';
import type { TicketEvent } from '../domain/ticket-event.ts';
import { type TicketFieldName, type TicketState, ticketFieldNames, ticketFields } from '../domain/ticket-fields.ts';
import { changedDocument, documentOf, erasedFields, stateOf } from './ticket-document.ts';
import { type AppliedRequest, type TicketDocument, ticketModel, type WorklogEntry } from './ticket-model.ts';
import { segmentsOf } from './ticket-order.ts';

/** The tickets of this service. Every write stores its event in the same update. Deleted tickets are not found. */
export interface TicketStore {
  /** Answers false if the id is taken, also by a ticket that was deleted. */
  insert(ticket: TicketState, event: TicketEvent, effect?: AppliedRequest): Promise<boolean>;
  find(id: number): Promise<StoredTicket | undefined>;
  /** Those of some tickets that exist, in no order. */
  findAll(ids: readonly number[]): Promise<StoredTicket[]>;
  findByExternalId(externalTicketId: string): Promise<StoredTicket | undefined>;
  /** The versions of those tickets that exist. */
  versions(ids: readonly number[]): Promise<Map<number, number>>;
  /** The versions of all tickets behind an id, deleted ones too, by id. */
  versionsAfter(id: number, limit: number): Promise<TicketVersion[]>;
  /** Writes a change of the version that was read; answers false if the ticket has moved on or is reserved. */
  update(write: TicketWrite): Promise<boolean>;
  /** Says who works on a ticket, or no longer does; its version stays. */
  setWorkedOn(id: number, workedOn: WorkedOn): Promise<void>;
  /** Wipes a ticket of the version that was read; answers false if it has moved on or is reserved. */
  erase(ticket: TicketState, event: TicketEvent, at: Date): Promise<boolean>;
  /** The deleted tickets of which a service may still keep something, those that were deleted first. */
  notErasedBy(service: string, limit: number): Promise<number[]>;
  /** Notes that a service keeps nothing of a deleted ticket any more; answers false if the ticket was not deleted. */
  confirmErasure(id: number, service: string): Promise<boolean>;
  /** How many deleted tickets each service may still keep something of, and when the first of them was deleted. */
  erasures(): Promise<{ service: string; count: number; oldestAt: Date }[]>;
  /** Reserves a ticket for a bulk, unless it has another version, or is reserved for another bulk, or is gone. */
  reserve(id: number, version: number | undefined, bulkId: string): Promise<'reserved' | 'taken' | 'moved_on'>;
  release(ids: readonly number[], bulkId: string): Promise<void>;
  /** Pending tickets whose `dueBy` has passed. */
  due(now: Date, limit: number): Promise<number[]>;
  page(request: PageRequest): Promise<Page>;
  /** Counts matches; `matchesUnset` says whether the query may match a document without any field. */
  count(query: Query, matchesUnset: boolean): Promise<number>;
  /** The first ticket in an order of the queue that matches: from the start, or on one side of a place. */
  firstInQueue(request: QueueRequest): Promise<number | undefined>;
  /** Binds an external id to a proposed ticket id, unless it is bound; answers the ticket id that it is bound to. */
  claimExternalId(externalTicketId: string, proposed: number): Promise<number>;
  /** Frees the external ids of a deleted ticket. */
  freeExternalIds(ticketId: number): Promise<void>;
}

/** A ticket, who works on it, and what has been done to it. Units: `at` in Unix seconds. */
export interface StoredTicket {
  ticket: TicketState;
  workedOn: readonly { profileId: number; at: number }[];
  /** The requests that were applied and may come again. */
  appliedRequests: readonly AppliedRequest[];
  /** The bulk that alone may change it. */
  reservedBy: string | null;
  /** How many entries the worklog has had. */
  manualWorkEntries: number;
}

/** The version of a ticket. */
export interface TicketVersion {
  ticketId: number;
  version: number;
  deleted: boolean;
}

/** Who works on a ticket, or no longer does. */
export interface WorkedOn {
  profileId: number;
  /** Null: no longer. */
  at: Date | null;
  /** Those who are forgotten at the same time. */
  forgotten: readonly number[];
}

/** A change of a ticket, with all that is written in the same update. */
export interface TicketWrite {
  before: StoredTicket;
  after: TicketState;
  changed: readonly TicketFieldName[];
  event: TicketEvent;
  worklogEntry?: WorklogEntry | undefined;
  workedOn?: WorkedOn | undefined;
  /** The request that is applied, if it may come again. */
  appliedRequest?: AppliedRequest | undefined;
  /** The bulk that the change is made by. */
  bulkId?: string | undefined;
}

/** Which place of the queue to read. */
export interface QueueRequest {
  query: Query;
  groups: readonly number[];
  order: RoutingOrder;
  /** Which side of a place: behind it, the nearest first, or before it. Undefined: from the start. */
  beside: { side: 'before' | 'behind'; key: string } | undefined;
  /** Whether the query has conditions of the request. */
  isFiltered: boolean;
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

/** A part of a list. */
export interface Page {
  count: number;
  /** Where it ended; undefined if nothing follows. */
  end: Position | undefined;
  /**
   * Makes the tickets of what was read. To be called when nothing else has to be waited for: a hundred tickets that wait
   * take many times the memory of what the server sent, and the garbage collector as long as all the rest of a search.
   */
  tickets(): StoredTicket[];
}

interface ExternalIdDocument {
  _id: string;
  ticketId: number;
}

/** The services that keep a share of tickets, which each erases by itself. */
const ownersOfShares = ['tickets', 'reporting'];
const maxQueryMs = 10_000;
const tooSlow = 'This search takes too long. Narrow it by filters, or order by an indexed field.';
const keptAppliedRequests = 1000;
const keptAppliedRequestsMs = 24 * 60 * 60 * 1000;
const keptWorklog = 1000;
const leftOutOfReads = { words: 0, outbox: 0, outboxSince: 0, unsent: 0, worklog: 0, queueGroup: 0, queueKeys: 0 };
const leftOutOfLists = { ...leftOutOfReads, body: 0, bodyPlain: 0, bodyClean: 0, workitem: 0, appliedRequests: 0 };
const isLive: Query = { deletedAt: null };
const isDeleted: Query = { deletedAt: { $exists: true } };

/**
 * Opens the tickets on a connection; `tell` is called when an event is in the outbox.
 *
 * Errors of every operation: store_unavailable; of lists also search_too_slow. */
export function ticketStore(connection: Connection, tell: () => void): TicketStore {
  const tickets = ticketModel(connection);
  const externalIds = externalIdModel(connection);
  // Past mongoose, where its casting costs more than the operation, and every value is typed here.
  const native = tickets.collection as unknown as mongo.Collection<TicketDocument>;
  const insertTicket = gatheredInsert(tickets.collection);
  const insertExternalId = gatheredInsert(externalIds.collection);
  // Deleted ones are passed over here: MongoDB finds by one field alone in two thirds of the time.
  const findOne = (query: Query) =>
    storeCall(async () => {
      const bytes = (await native.findOne(query, { projection: leftOutOfReads, raw: true })) as Uint8Array | null;
      const document = bytes && readDocument(bytes);
      return document && document.deletedAt === undefined ? storedTicket(document) : undefined;
    });
  const told = (isWritten: boolean) => {
    if (isWritten) tell();
    return isWritten;
  };
  const updateOne = (filter: Query, update: Query) =>
    storeCall(async () => (await native.updateOne(filter, update)).matchedCount === 1);
  return {
    insert: (ticket, event, effect) => storeCall(() => insertTicket(documentOf(ticket, event, effect))).then(told),
    find: (id) => findOne({ _id: id }),
    findAll: (ids) =>
      storeCall(async () => {
        const options = { projection: leftOutOfReads, raw: true };
        const found = await native.find({ _id: { $in: [...ids] }, ...isLive }, options).toArray();
        return found.map((bytes) => storedTicket(readDocument(bytes as unknown as Uint8Array)));
      }),
    versionsAfter: (id, limit) =>
      storeCall(async () => {
        const found = await native
          .find({ _id: { $gt: id } }, { projection: { version: 1, deletedAt: 1 }, sort: { _id: 1 }, limit })
          .toArray();
        return found.map(({ _id, version, deletedAt }) => ({
          ticketId: _id,
          version,
          deleted: deletedAt !== undefined,
        }));
      }),
    findByExternalId: (externalTicketId) => findOne({ externalTicketId }),
    versions: (ids) =>
      storeCall(async () => {
        const found = await tickets.find({ _id: { $in: ids }, ...isLive }, { version: 1 }).lean();
        return new Map(found.map(({ _id, version }) => [_id, version]));
      }),
    update: (write) => updateOne(unmoved(write.before.ticket, write.bulkId), writeOf(write)).then(told),
    async setWorkedOn(id, workedOn) {
      await updateOne({ _id: id, ...isLive }, workedOnUpdate(workedOn));
    },
    erase: (ticket, event, at) =>
      updateOne(unmoved(ticket, undefined), {
        $set: { version: event.version, deletedAt: at, notErasedBy: [...ownersOfShares] },
        $unset: Object.fromEntries(erasedFields.map((name) => [name, 1])),
        ...outboxPush(event),
      }).then(told),
    notErasedBy: (service, limit) =>
      storeCall(async () => {
        const found = await tickets
          .find({ notErasedBy: service }, { _id: 1 })
          .sort({ deletedAt: 1 })
          .limit(limit)
          .lean();
        return found.map(({ _id }) => _id);
      }),
    async confirmErasure(id, service) {
      const isKnown = await updateOne({ _id: id, ...isDeleted }, { $pull: { notErasedBy: service } });
      await updateOne({ _id: id, notErasedBy: [] }, { $unset: { notErasedBy: 1 } });
      return isKnown;
    },
    erasures: () =>
      storeCall(async () => {
        const found = await native
          .aggregate<{ _id: string; count: number; oldestAt: Date }>([
            { $match: { notErasedBy: { $exists: true } } },
            { $unwind: '$notErasedBy' },
            { $group: { _id: '$notErasedBy', count: { $sum: 1 }, oldestAt: { $min: '$deletedAt' } } },
          ])
          .toArray();
        return found.map(({ _id, ...rest }) => ({ service: _id, ...rest }));
      }),
    async reserve(id, version, bulkId) {
      const stands = version === undefined ? isLive : { ...isLive, version };
      const free = { _id: id, ...stands, reservedBy: { $in: [null, bulkId] } };
      if (await updateOne(free, { $set: { reservedBy: bulkId } })) return 'reserved';
      const found = await findOne({ _id: id });
      return found && (version === undefined || found.ticket.version === version) ? 'taken' : 'moved_on';
    },
    async release(ids, bulkId) {
      await storeCall(() =>
        tickets.updateMany({ _id: { $in: ids }, reservedBy: bulkId }, { $set: { reservedBy: null } }),
      );
    },
    due: (now, limit) =>
      storeCall(async () => {
        const isDue = { status: ticketFields.status.store(TicketStatus.PENDING), dueBy: { $lte: now } };
        const found = await tickets.find(isDue, { _id: 1 }).sort({ dueBy: 1 }).limit(limit).lean();
        return found.map(({ _id }) => _id);
      }),
    page: (request) => storeCall(() => translateTimeLimit(tooSlow, () => readPage(native, request))),
    count: (query, matchesUnset) =>
      storeCall(() =>
        translateTimeLimit(tooSlow, async () => {
          const all = await tickets.countDocuments(countable(query), { maxTimeMS: maxQueryMs });
          if (!matchesUnset) return all;
          return Math.max(
            0,
            all - (await tickets.countDocuments({ $and: [query, isDeleted] }, { maxTimeMS: maxQueryMs })),
          );
        }),
      ),
    firstInQueue: (request) => storeCall(() => translateTimeLimit(tooSlow, () => readFirstInQueue(native, request))),
    claimExternalId: (externalTicketId, proposed) =>
      storeCall(async () => {
        for (;;) {
          if (await insertExternalId({ _id: externalTicketId, ticketId: proposed })) return proposed;
          const claim = await externalIds.findById(externalTicketId).lean();
          if (claim) return claim.ticketId;
          // A deletion has freed it in between.
        }
      }),
    async freeExternalIds(ticketId) {
      await storeCall(() => externalIds.deleteMany({ ticketId }));
    },
  };
}

/** A ticket in the version that was read, so not deleted since, if nobody else has reserved it. */
function unmoved({ id, version }: TicketState, bulkId: string | undefined): Query {
  return { _id: id, version, reservedBy: bulkId === undefined ? null : { $in: [null, bulkId] } };
}

function writeOf({
  before,
  after,
  changed,
  event,
  worklogEntry,
  workedOn,
  appliedRequest,
  bulkId,
}: TicketWrite): Query {
  const { $push, $min } = outboxPush(event);
  const { $set: workedOnSet = {}, $unset = undefined } = workedOn ? workedOnUpdate(workedOn) : {};
  return {
    $set: {
      ...changedDocument(after, changed),
      ...workedOnSet,
      ...(appliedRequest ? { appliedRequests: withAppliedRequest(before.appliedRequests, appliedRequest) } : {}),
      ...(bulkId === undefined ? {} : { reservedBy: null }),
    },
    ...($unset ? { $unset } : {}),
    ...(worklogEntry ? { $inc: { manualWorkEntries: 1 } } : {}),
    $min,
    $push: {
      ...$push,
      ...(worklogEntry ? { worklog: { $each: [worklogEntry], $slice: -keptWorklog } } : {}),
    },
  };
}

/** The requests applied within the last day; the version of the ticket guards them against another's write. */
function withAppliedRequest(earlier: readonly AppliedRequest[], request: AppliedRequest): AppliedRequest[] {
  const since = request.at.getTime() - keptAppliedRequestsMs;
  return [...earlier.filter(({ at }) => at.getTime() > since), request].slice(-keptAppliedRequests);
}

function workedOnUpdate({ profileId, at, forgotten }: WorkedOn): { $set?: Query; $unset?: Query } {
  const path = (id: number) => `workedOn.${id}`;
  const gone = forgotten.filter((id) => id !== profileId).concat(at === null ? [profileId] : []);
  return {
    ...(at === null ? {} : { $set: { [path(profileId)]: at } }),
    ...(gone.length === 0 ? {} : { $unset: Object.fromEntries(gone.map((id) => [path(id), 1])) }),
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
  const workedOn = Object.entries(document.workedOn).map(([id, at]) => ({
    profileId: Number(id),
    at: at.getTime() / 1000,
  }));
  return {
    ticket: stateOf(document),
    workedOn,
    appliedRequests: document.appliedRequests ?? [],
    reservedBy: document.reservedBy,
    manualWorkEntries: document.manualWorkEntries,
  };
}

/** Without conditions, all ids: an index tells their number, where a scan of the tickets would read every body. */
function countable(query: Query): Query {
  return Object.keys(query).length === 0 ? { _id: { $gt: 0 } } : query;
}

/**
 * Each group of the queue is one range of its index; of their first tickets the first in the order is answered.
 *
 * Without filters of the request the index is named: a plan that is remembered from the end of the queue may sort all of
 * it elsewhere.
 */
async function readFirstInQueue(
  tickets: mongo.Collection<TicketDocument>,
  request: QueueRequest,
): Promise<number | undefined> {
  const { query, groups, order, beside, isFiltered } = request;
  const field = `queueKeys.${order}`;
  const direction = beside?.side === 'before' ? -1 : 1;
  const place = beside ? { [field]: { [direction === 1 ? '$gt' : '$lt']: beside.key } } : {};
  const read = (queueGroup: number, options: { hint?: Record<string, 1> }) =>
    tickets.findOne<Pick<TicketDocument, '_id' | 'queueKeys'>>(
      { queueGroup, ...place, ...query },
      { projection: { [field]: 1 }, sort: { [field]: direction }, maxTimeMS: maxQueryMs, ...options },
    );
  const firsts = await Promise.all(
    groups.map((queueGroup) =>
      isFiltered
        ? read(queueGroup, {})
        : read(queueGroup, { hint: { queueGroup: 1, [field]: 1 } }).catch((error: unknown) => {
            // The index is not there yet.
            if (error instanceof mongo.MongoServerError && error.code === 2) return read(queueGroup, {});
            throw error;
          }),
    ),
  );
  const found = firsts.filter((first) => first !== null);
  const keyOf = (document: Pick<TicketDocument, 'queueKeys'>) => document.queueKeys[order];
  found.sort((left, right) => (keyOf(left) < keyOf(right) ? -direction : direction));
  return found[0]?._id;
}

async function readPage(tickets: mongo.Collection<TicketDocument>, request: PageRequest): Promise<Page> {
  const segments = segmentsOf(request.order, request.now);
  const ranges = rangesBehind(segments, request.order, request.behind);
  const projection = request.withRawData ? leftOutOfLists : { ...leftOutOfLists, rawData: 0 };
  const found: { bytes: Uint8Array; range: Range }[] = [];
  let offset = request.offset;
  // One more than asked for tells whether anything follows.
  const wanted = request.limit + 1;
  for (const range of ranges) {
    const match = { $and: [request.query, range.match, isLive] };
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
    // Each document is let go before the next is decoded.
    tickets: () => shown.map(({ bytes }) => storedTicket(readDocument(bytes))),
  };
}

const readDocument = documentReader<TicketDocument>([
  ...['_id', ...ticketFieldNames, 'minTagId', 'minAiAgentId'],
  ...['workedOn', 'manualWorkEntries', 'appliedRequests', 'reservedBy', 'deletedAt'],
]);

function positionOf(document: TicketDocument, range: Range): Position {
  return { segment: range.segment, value: document[range.field], id: document._id };
}
