import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import type { ErasedIds } from '@ticketing/store/ids/erased-ids.ts';
import type { Connection, mongo } from 'mongoose';
import type { SessionState } from './rules.ts';

/** A session of a page, before it is read. */
export interface SessionEntry {
  id: string;
  bytes: number;
}

/** The sessions. Errors of every operation: store_unavailable. */
export interface SessionStore {
  /**
   * Stores a session, unless the stored one has a later last activity. A session without a ticket may get one; it never
   * changes to another. Returns the session as it is stored afterwards: with another ticket, if nothing was written for
   * that reason; undefined if its ticket was deleted.
   *
   * Errors: concurrent_change, if other writes come first too often.
   */
  record(session: SessionState): Promise<SessionState | undefined>;
  /** Returns the sessions of a ticket, the latest activity first; undefined if they are more than `limit`. */
  few(ticketId: number, limit: number): Promise<SessionState[] | undefined>;
  /** Returns the ids of tickets that have sessions, those above an id, in their order. */
  ticketsAfter(id: number, limit: number): Promise<number[]>;
  /** Returns a page of the sessions of a ticket, or of all, the latest activity first, and the total. */
  list(
    ticketId: number | undefined,
    offset: number,
    limit: number,
  ): Promise<{ total: number; entries: SessionEntry[] }>;
  /** Returns the sessions that exist, in the order of `ids`. */
  findSome(ids: readonly string[]): Promise<SessionState[]>;
  /** Removes the sessions of tickets. */
  erase(ticketIds: readonly number[]): Promise<void>;
}

const tooOften = 'The session was changed by others at the same time.';

/** Opens the sessions on a connection. */
export function sessionStore(
  connection: Connection,
  deletedTickets: Pick<ErasedIds, 'among'>,
  runtime: Pick<Runtime, 'random'>,
): SessionStore {
  const sessions = sessionCollection(connection);
  const erase = async (ticketIds: readonly number[]) => {
    if (ticketIds.length === 0) return;
    await storeCall(() => sessions.deleteMany({ ticketId: { $in: [...ticketIds] } }));
  };
  return {
    async record(session) {
      const attempt = () => storeCall(() => record(sessions, toDocument(session)));
      const recorded = await retryOnConflict(runtime, tooOften, attempt);
      // The erasure of a ticket that was deleted meanwhile has not seen this session.
      const deleted = await deletedTickets.among(session.ticketId === null ? [] : [session.ticketId]);
      await erase([...deleted]);
      return deleted.size > 0 ? undefined : recorded;
    },
    few: (ticketId, limit) =>
      storeCall(async () => {
        const found = await sessions.find({ ticketId }, { sort: latestFirst, limit: limit + 1 }).toArray();
        return found.length > limit ? undefined : found.map(fromDocument);
      }),
    ticketsAfter: (id, limit) =>
      storeCall(async () => {
        const options = { projection: { _id: 0, ticketId: 1 }, sort: { ticketId: 1 }, limit } as const;
        const found = await sessions.find({ ticketId: { $gt: id } }, options).toArray();
        return [...new Set(found.flatMap(({ ticketId }) => ticketId ?? []))];
      }),
    list: (ticketId, offset, limit) =>
      storeCall(async () => {
        const filter = ticketId === undefined ? {} : { ticketId };
        const [total, page] = await Promise.all([
          sessions.countDocuments(filter),
          sessions
            .find(filter, { projection: { bytes: 1 } })
            .sort(latestFirst)
            .skip(offset)
            .limit(limit)
            .toArray(),
        ]);
        return { total, entries: page.map(({ _id, bytes }) => ({ id: _id, bytes })) };
      }),
    findSome: (ids) =>
      storeCall(async () => {
        const documents = await sessions.find({ _id: { $in: [...ids] } }).toArray();
        const byId = new Map(documents.map((one) => [one._id, fromDocument(one)]));
        return ids.flatMap((id) => byId.get(id) ?? []);
      }),
    erase,
  };
}

const latestFirst = { lastActivityAt: -1, _id: 1 } as const;

/** Stores a session, or returns the stored one that takes precedence; `conflict` if it was stored just now. */
async function record(
  sessions: mongo.Collection<SessionDocument>,
  document: SessionDocument,
): Promise<SessionState | typeof conflict> {
  const { _id, ticketId, lastActivityAt, ...fields } = document;
  const filter = { _id, lastActivityAt: { $lte: lastActivityAt }, ticketId: { $in: [...new Set([ticketId, null])] } };
  const { matchedCount } = await sessions.updateOne(filter, { $set: { ticketId, lastActivityAt, ...fields } });
  if (matchedCount > 0) return fromDocument(document);
  const stored = await sessions.findOne({ _id });
  if (stored) {
    const isNewer = stored.lastActivityAt > lastActivityAt;
    return isNewer || !filter.ticketId.$in.includes(stored.ticketId) ? fromDocument(stored) : conflict;
  }
  try {
    await sessions.insertOne(document);
    return fromDocument(document);
  } catch (error) {
    if (isDuplicateKey(error)) return conflict;
    throw error;
  }
}

/** The document of a session. */
interface SessionDocument extends Omit<SessionState, 'id'> {
  _id: string;
  /** The approximate size in responses, in bytes. */
  bytes: number;
}

const sessionCollection = (connection: Connection) => openCollection<SessionDocument>(connection, 'sessions');

/** Builds the missing indexes of the sessions. */
export async function buildSessionIndexes(connection: Connection): Promise<void> {
  const sessions = sessionCollection(connection);
  await sessions.createIndex({ ticketId: 1, lastActivityAt: -1, _id: 1 });
  await sessions.createIndex({ lastActivityAt: -1, _id: 1 });
}

/** Converts a session to its document. */
function toDocument({ id, ...state }: SessionState): SessionDocument {
  return { _id: id, ...state, bytes: Buffer.byteLength(JSON.stringify(state)) };
}

/** Converts a document to the session. */
function fromDocument({ _id, bytes: _bytes, ...state }: SessionDocument): SessionState {
  return { id: _id, ...state };
}
