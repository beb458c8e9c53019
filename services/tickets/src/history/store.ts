import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { HistoryEntryType } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { isDuplicateKey, storeCall, translateTimeLimit } from '@ticketing/store/document/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import { ticketFields } from '../ticket/rules/fields.ts';
import { maxQueryMs } from '../ticket/store/list-store.ts';
import { isNotDeleted, type TicketCollection, type TicketDocument } from '../ticket/store/schema.ts';
import {
  type HistoryCounts,
  type HistoryKey,
  type HistoryLine,
  type HistorySubject,
  mergeNewestFirst,
  type Part,
  pageParts,
  type RecordedEntry,
} from './rules.ts';
import { entrySubChannel, entryType, type HistoryEntryDocument, historyEntries } from './schema.ts';

/** The histories of customers and contracts. Errors of every operation: store_unavailable; search_too_slow, of a long one. */
export interface HistoryStore {
  /** Stores an entry. One with the same external id is replaced and keeps its id. Units: `now` in Unix seconds. */
  record(entry: RecordedEntry, now: number, newId: () => Promise<number>): Promise<number>;
  /** The subject of the history of a ticket; undefined if there is no such ticket. */
  findSubject(ticketId: number): Promise<HistorySubject | undefined>;
  count(subject: HistorySubject): Promise<HistoryCounts>;
  /** The positions of a page, newest first. */
  page(subject: HistorySubject, counts: HistoryCounts, part: Part): Promise<HistoryKey[]>;
  /** About how many bytes the texts of lines have. A line that no longer exists has none. */
  sizes(keys: readonly HistoryKey[]): Promise<number[]>;
  /** The lines of a page, without lines that no longer exist. */
  lines(keys: readonly HistoryKey[]): Promise<HistoryLine[]>;
}

export function historyStore(connection: Connection, tickets: TicketCollection): HistoryStore {
  const entries = historyEntries(connection);
  return {
    record: (entry, now, newId) => storeCall(() => record(entries, entry, now, newId)),
    findSubject: (ticketId) =>
      storeCall(async () => {
        const projection = { customerId: 1, contractId: 1, deletedAt: 1 };
        const found = await tickets.findOne({ _id: ticketId }, { projection });
        if (!found || found.deletedAt !== undefined) return undefined;
        const { load } = ticketFields.customerId;
        return {
          ticketId,
          customerId: load(found.customerId as never),
          contractId: load(found.contractId as never),
        };
      }),
    count: (subject) =>
      timeLimited(async () => {
        const [ofTickets, ofEntries] = await Promise.all([
          countTickets(tickets, subject),
          countEntries(entries, subject),
        ]);
        return { ...ofTickets, entries: ofEntries };
      }),
    page: (subject, counts, part) => timeLimited(() => readPage(tickets, entries, subject, counts, part)),
    sizes: (keys) =>
      storeCall(async () => {
        const [ofTickets, ofEntries] = await Promise.all([
          readSizes(tickets, '_id', pickIds(keys, true), ['subject', 'summary']),
          readSizes(entries, 'id', pickIds(keys, false), ['subject', 'url']),
        ]);
        return keys.map(({ id, isTicket }) => (isTicket ? ofTickets : ofEntries).get(id) ?? 0);
      }),
    lines: (keys) =>
      storeCall(async () => {
        const [ofTickets, ofEntries] = await Promise.all([
          ticketLines(tickets, pickIds(keys, true)),
          entryLines(entries, pickIds(keys, false)),
        ]);
        return keys.flatMap(({ id, isTicket }) => (isTicket ? ofTickets : ofEntries).get(id) ?? []);
      }),
  };
}

/** How long a query may run. */
const limits = { maxTimeMS: maxQueryMs };
const tooSlowDetail = 'This history is too long to be read in time.';

function timeLimited<Result>(read: () => Promise<Result>): Promise<Result> {
  return storeCall(() => translateTimeLimit(tooSlowDetail, read));
}

type Entries = mongo.Collection<HistoryEntryDocument>;

async function record(
  entries: Entries,
  { externalId, createdAt, ...entry }: RecordedEntry,
  now: number,
  newId: () => Promise<number>,
): Promise<number> {
  const at = (seconds: number) => new Date(seconds * 1000);
  const fields = {
    ...entry,
    type: String(entryType.store(entry.type)),
    subChannel: entrySubChannel.store(entry.subChannel) as string | null,
    ...(createdAt === undefined ? {} : { createdAt: at(createdAt) }),
  };
  const options = { projection: { id: 1 }, returnDocument: 'after' } as const;
  const replace = () => entries.findOneAndUpdate({ _id: externalId }, { $set: fields }, options);
  const known = await replace();
  if (known) return known.id;
  const id = await newId();
  try {
    await entries.insertOne({ _id: externalId, id, createdAt: at(now), ...fields });
    return id;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const first = await replace();
  if (!first) throw new Error('an entry that was inserted is missing');
  return first.id;
}

/** Matches the tickets or entries of a customer or a contract; undefined if there is neither. */
function belongsToSubject({ customerId, contractId }: HistorySubject): Query | undefined {
  const queries: Query[] = [];
  if (customerId !== null) queries.push({ customerId });
  if (contractId !== null) queries.push({ contractId });
  return queries.length > 1 ? { $or: queries } : queries[0];
}

/** Matches the tickets of a history. A deleted ticket has no customer and no contract. */
function isTicketOf(subject: HistorySubject): Query {
  return belongsToSubject(subject) ?? { _id: subject.ticketId, ...isNotDeleted };
}

async function countTickets(
  tickets: TicketCollection,
  subject: HistorySubject,
): Promise<Pick<HistoryCounts, 'tickets' | 'openTickets'>> {
  const isOpen = { $eq: ['$status', ticketFields.status.store(TicketStatus.OPEN)] };
  const [counts] = await tickets
    .aggregate<{ tickets: number; openTickets: number }>(
      [
        { $match: isTicketOf(subject) },
        { $group: { _id: null, tickets: { $sum: 1 }, openTickets: { $sum: { $cond: [isOpen, 1, 0] } } } },
      ],
      limits,
    )
    .toArray();
  return { tickets: counts?.tickets ?? 0, openTickets: counts?.openTickets ?? 0 };
}

async function countEntries(entries: Entries, subject: HistorySubject): Promise<number> {
  const query = belongsToSubject(subject);
  return query ? entries.countDocuments(query, limits) : 0;
}

/** Reads the positions of a page from the indexes, and no document. */
async function readPage(
  tickets: TicketCollection,
  entries: Entries,
  subject: HistorySubject,
  counts: HistoryCounts,
  part: Part,
): Promise<HistoryKey[]> {
  if (part.skip >= counts.tickets + counts.entries) return [];
  const parts = pageParts(counts, part);
  const ofEntries = belongsToSubject(subject);
  const [foundTickets, foundEntries] = await Promise.all([
    tickets
      .find(isTicketOf(subject), {
        projection: { _id: 1, createdAt: 1 },
        sort: { createdAt: -1, _id: -1 },
        ...parts.tickets,
        ...limits,
      })
      .toArray(),
    ofEntries && parts.entries.skip < counts.entries
      ? entries
          .find(ofEntries, {
            projection: { _id: 0, id: 1, createdAt: 1 },
            sort: { createdAt: -1, id: -1 },
            ...parts.entries,
            ...limits,
          })
          .toArray()
      : [],
  ]);
  const keys = [
    ...foundTickets.map(({ _id, createdAt }) => toKey(_id, createdAt as Date, true)),
    ...foundEntries.map(({ id, createdAt }) => toKey(id, createdAt, false)),
  ];
  return mergeNewestFirst(keys).slice(parts.skip, parts.skip + part.limit);
}

function toKey(id: number, createdAt: Date, isTicket: boolean): HistoryKey {
  return { id, createdAt: createdAt.getTime() / 1000, isTicket };
}

function pickIds(keys: readonly HistoryKey[], areTickets: boolean): number[] {
  return keys.filter(({ isTicket }) => isTicket === areTickets).map(({ id }) => id);
}

/** The bytes of some texts of documents, by id. */
async function readSizes<Document extends mongo.Document>(
  collection: mongo.Collection<Document>,
  idName: string,
  ids: readonly number[],
  names: readonly string[],
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const found = await collection
    .aggregate<{ id: number; bytes: number }>([
      { $match: { [idName]: { $in: ids } } },
      {
        $project: {
          _id: 0,
          id: `$${idName}`,
          bytes: { $add: names.map((name) => ({ $strLenBytes: { $ifNull: [`$${name}`, ''] } })) },
        },
      },
    ])
    .toArray();
  return new Map(found.map(({ id, bytes }) => [id, bytes]));
}

async function ticketLines(tickets: TicketCollection, ids: readonly number[]): Promise<Map<number, HistoryLine>> {
  if (ids.length === 0) return new Map();
  const projection = { channel: 1, status: 1, subject: 1, summary: 1, createdAt: 1 };
  const found = await tickets.find({ _id: { $in: [...ids] }, ...isNotDeleted }, { projection }).toArray();
  return new Map(found.map((document) => [document._id, ticketLine(document)]));
}

function ticketLine(document: TicketDocument): HistoryLine {
  return {
    id: document._id,
    type: HistoryEntryType.TICKET,
    channel: ticketFields.channel.load(document.channel as never),
    subChannel: null,
    status: ticketFields.status.load(document.status as never),
    subject: ticketFields.subject.load(document.subject as never),
    summary: ticketFields.summary.load(document.summary as never),
    url: null,
    createdAt: ticketFields.createdAt.load(document.createdAt as never) ?? 0,
  };
}

async function entryLines(entries: Entries, ids: readonly number[]): Promise<Map<number, HistoryLine>> {
  if (ids.length === 0) return new Map();
  const found = await entries.find({ id: { $in: [...ids] } }).toArray();
  return new Map(
    found.map(({ id, type, subChannel, subject, url, createdAt }) => [
      id,
      {
        ...{ id, subject, url, createdAt: createdAt.getTime() / 1000 },
        type: entryType.load(type as never),
        subChannel: entrySubChannel.load(subChannel as never),
        ...{ channel: null, status: null, summary: null },
      },
    ]),
  );
}
