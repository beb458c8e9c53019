import { type Claimed, type Lease, type Leased, openLeases } from '@ticketing/store/lease.ts';
import { serverTime } from '@ticketing/store/server-time.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/store-error.ts';
import { type Connection, mongo } from 'mongoose';

/** Changes of several tickets that have been checked, and are applied by whoever has claimed them. */
export interface Bulk {
  id: string;
  /**
   * Reserving: nothing is applied yet, and nothing will be unless all tickets are reserved. Applying: all of it will be
   * applied.
   */
  state: 'reserving' | 'applying' | 'applied';
  /** The request, as a serialised message; empty once it is applied. */
  request: Uint8Array;
  /** Who sent it, as JSON. */
  caller: string;
  /** The trace of the request. */
  traceparent: string;
  owner: string;
}

/** The bulks of this service. Errors of every operation: store_unavailable. */
export interface BulkStore {
  /** Records a bulk and claims it. Returns undefined if the id is taken. */
  insert(bulk: Omit<Bulk, 'owner'>): Promise<Bulk | undefined>;
  find(id: string): Promise<Bulk | undefined>;
  /** Claims a bulk that is not applied and that nobody works on. */
  takeOver(id: string): Promise<Bulk | undefined>;
  /** Bulks that are not applied and that nobody works on. */
  abandoned(): Promise<string[]>;
  /** Goes from reserving to applying. Returns false if another has claimed it. */
  startApplying(bulk: Claimed): Promise<boolean>;
  renew(bulk: Claimed): Promise<void>;
  /** Drops what the bulk asked for, keeps that it was applied, and releases it. */
  finish(bulk: Claimed): Promise<void>;
  /** Removes a bulk, unless another has claimed it. */
  remove(bulk: Claimed): Promise<void>;
  /** Removes bulks that were applied more than a day ago. */
  removeApplied(): Promise<void>;
}

interface BulkDocument extends Leased, Omit<Bulk, 'id' | 'owner' | 'request'> {
  request: mongo.Binary;
  appliedAt?: Date;
}

const durationMs = 10_000;
const keptMs = 24 * 60 * 60 * 1000;
const maxAbandoned = 100;

const collectionOf = (connection: Connection) =>
  connection.collection('bulks') as unknown as mongo.Collection<BulkDocument>;

/** Builds the indexes of the bulks. */
export async function buildBulkIndexes(connection: Connection): Promise<void> {
  await collectionOf(connection).createIndex({ state: 1, 'lease.expiresAt': 1 });
  await collectionOf(connection).createIndex({ state: 1, appliedAt: 1 });
}

/** Opens the bulks on a connection. */
export function bulkStore(connection: Connection): BulkStore {
  const bulks = collectionOf(connection);
  const leases = openLeases(bulks, { connection, durationMs });
  const isOpen = { state: { $in: ['reserving' as const, 'applying' as const] } };
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
    find: (id) => storeCall(async () => bulkOf(await bulks.findOne({ _id: id }))),
    takeOver: (id) => storeCall(async () => bulkOf((await leases.claim({ _id: id, ...isOpen })) ?? null)),
    abandoned: () =>
      storeCall(async () => {
        const found = await bulks
          .find({ ...isOpen, ...leases.isFree() } as never, { projection: { _id: 1 }, limit: maxAbandoned })
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
      const before = new Date(serverTime(connection) - keptMs);
      await storeCall(() => bulks.deleteMany({ state: 'applied', appliedAt: { $lt: before } }));
    },
  };
}

function bulkOf(document: (BulkDocument & { lease?: Lease | null }) | null): Bulk | undefined {
  if (!document) return undefined;
  const { _id, state, request, caller, traceparent, lease } = document;
  return { id: _id, state, request: new Uint8Array(request.buffer), caller, traceparent, owner: lease?.owner ?? '' };
}
