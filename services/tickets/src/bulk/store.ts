import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Claimed, type Lease, type Leased, openLeases } from '@ticketing/store/leases/lease.ts';
import { type Connection, mongo } from 'mongoose';
import { isNotDeleted, type TicketCollection } from '../ticket/store/schema.ts';

/** A validated PATCH of several tickets. The process that has claimed it applies it. */
export interface Bulk {
  id: string;
  /**
   * `reserving`: nothing is applied yet, and the bulk may still be cancelled. `applying`: every change will be applied, if
   * necessary by another process. `applied`: every change is applied.
   */
  state: 'reserving' | 'applying' | 'applied';
  /** The request, as a serialised message; empty when the bulk is applied. */
  request: Uint8Array;
  /** The caller of the request, as JSON. */
  caller: string;
  /** The trace of the request. */
  traceparent: string;
  /** The owner of the lease. */
  owner: string;
}

/** The bulks of this service. Errors of every operation: store_unavailable. */
export interface BulkStore {
  /** Records a bulk and claims it. Returns undefined if the id is already recorded. */
  insert(bulk: Omit<Bulk, 'owner'>): Promise<Bulk | undefined>;
  find(id: string): Promise<Bulk | undefined>;
  /** Claims a bulk that is not applied and whose lease has expired. Returns undefined if there is none. */
  takeOver(id: string): Promise<Bulk | undefined>;
  /** The ids of bulks that are not applied and whose lease has expired. */
  abandoned(): Promise<string[]>;
  /** Changes the state to `applying`. Returns false if another process has claimed the bulk. */
  startApplying(bulk: Claimed): Promise<boolean>;
  renew(bulk: Claimed): Promise<void>;
  /** Changes the state to `applied`, removes the request and the caller, and releases the lease. */
  finish(bulk: Claimed): Promise<void>;
  /** Removes a bulk, unless another process has claimed it. */
  remove(bulk: Claimed): Promise<void>;
  /** Removes bulks that were applied more than a day ago. */
  removeApplied(): Promise<void>;
}

interface BulkDocument extends Leased, Omit<Bulk, 'id' | 'owner' | 'request'> {
  request: mongo.Binary;
  appliedAt?: Date;
}

const durationMs = 10_000;
const retentionMs = 24 * 60 * 60 * 1000;
const maxAbandoned = 100;

const openBulks = (connection: Connection) => openCollection<BulkDocument>(connection, 'bulks');

export async function buildBulkIndexes(connection: Connection): Promise<void> {
  await openBulks(connection).createIndex({ state: 1, 'lease.expiresAt': 1 });
  await openBulks(connection).createIndex({ state: 1, appliedAt: 1 });
}

export function bulkStore(connection: Connection): BulkStore {
  const bulks = openBulks(connection);
  const leases = openLeases(bulks, { connection, durationMs });
  const isUnfinished = { state: { $in: ['reserving' as const, 'applying' as const] } };
  return {
    insert: (given) =>
      storeCall(async () => {
        const lease = leases.begin();
        const { id, request, ...rest } = given;
        try {
          await bulks.insertOne({ _id: id, ...rest, request: new mongo.Binary(request), lease });
          return { ...given, owner: lease.owner };
        } catch (error) {
          if (isDuplicateKey(error)) return undefined;
          throw error;
        }
      }),
    find: (id) => storeCall(async () => fromDocument(await bulks.findOne({ _id: id }))),
    takeOver: (id) => storeCall(async () => fromDocument((await leases.claim({ _id: id, ...isUnfinished })) ?? null)),
    abandoned: () =>
      storeCall(async () => {
        const found = await bulks
          .find({ ...isUnfinished, ...leases.isFree() } as never, { projection: { _id: 1 }, limit: maxAbandoned })
          .toArray();
        return found.map(({ _id }) => _id);
      }),
    startApplying: (bulk) => storeCall(() => leases.renew(bulk, { state: 'applying' })),
    async renew(bulk) {
      await storeCall(() => leases.renew(bulk));
    },
    async finish(bulk) {
      const applied = { state: 'applied', request: new mongo.Binary(), caller: '' };
      await storeCall(() => leases.release(bulk, { ...applied, appliedAt: new Date(serverTime(connection)) }));
    },
    async remove(bulk) {
      await storeCall(() => bulks.deleteOne(leases.isHeld(bulk)));
    },
    async removeApplied() {
      const before = new Date(serverTime(connection) - retentionMs);
      await storeCall(() => bulks.deleteMany({ state: 'applied', appliedAt: { $lt: before } }));
    },
  };
}

function fromDocument(document: (BulkDocument & { lease?: Lease | null }) | null): Bulk | undefined {
  if (!document) return undefined;
  const { _id, state, request, caller, traceparent, lease } = document;
  return { id: _id, state, request: new Uint8Array(request.buffer), caller, traceparent, owner: lease?.owner ?? '' };
}

/**
 * The reservations of tickets: a reserved ticket is changed by one bulk only. Errors of every operation:
 * store_unavailable.
 */
export interface ReservationStore {
  /**
   * Reserves a ticket for a bulk. `taken`: another bulk has reserved it; `stale`: it does not have the version, or does
   * not exist.
   */
  reserve(ticketId: number, version: number | undefined, bulkId: string): Promise<'reserved' | 'taken' | 'stale'>;
  /** Ends the reservations of some tickets by a bulk. */
  release(ticketIds: readonly number[], bulkId: string): Promise<void>;
}

export function reservationStore(tickets: TicketCollection): ReservationStore {
  return {
    reserve: (ticketId, version, bulkId) =>
      storeCall(async () => {
        const expected = { _id: ticketId, ...isNotDeleted, ...(version === undefined ? {} : { version }) };
        const isFree = { ...expected, reservedBy: { $in: [null, bulkId] } };
        const { matchedCount } = await tickets.updateOne(isFree, { $set: { reservedBy: bulkId } });
        if (matchedCount === 1) return 'reserved';
        return (await tickets.findOne(expected, { projection: { _id: 1 } })) ? 'taken' : 'stale';
      }),
    async release(ticketIds, bulkId) {
      const isReserved = { _id: { $in: [...ticketIds] }, reservedBy: bulkId };
      await storeCall(() => tickets.updateMany(isReserved, { $set: { reservedBy: null } }));
    },
  };
}
