import { randomUUID } from 'node:crypto';
import { isDuplicateKey, storeCall } from '@ticketing/store/database.ts';
import { type Connection, type Model, mongo, Schema } from 'mongoose';

/** A bulk of changes that has been checked, and is applied by whoever holds its lease. */
export interface Bulk {
  id: string;
  /** Reserving: nothing is applied yet, and nothing will be unless it gets on. Applying: it will be applied whole. */
  state: 'reserving' | 'applying' | 'applied';
  /** The request, as its message says it; empty once it is applied. */
  request: Uint8Array;
  /** Who asked for it, as JSON. */
  caller: string;
  /** The trace of the request. */
  traceparent: string;
  /** Who works on it now. */
  lease: string;
}

/** The bulks of this service. Units: `now` in Unix milliseconds. Errors of every operation: store_unavailable. */
export interface BulkStore {
  /** Records a bulk and leases it. Answers false if the id is taken. */
  insert(bulk: Omit<Bulk, 'lease'>, now: number): Promise<Bulk | undefined>;
  find(id: string): Promise<Bulk | undefined>;
  /** Leases a bulk whose lease has passed. */
  takeOver(id: string, now: number): Promise<Bulk | undefined>;
  /** Bulks that are not applied and whose lease has passed. */
  abandoned(now: number): Promise<string[]>;
  /** Goes from reserving to applying. Answers false if another holds it. */
  startApplying(bulk: Bulk, now: number): Promise<boolean>;
  /** Prolongs the lease, unless another holds it. */
  prolong(bulk: Bulk, now: number): Promise<void>;
  /** Drops what the bulk asked for and keeps that it was applied. */
  finish(bulk: Bulk, now: number): Promise<void>;
  /** Removes a bulk, unless another holds it. */
  remove(bulk: Bulk): Promise<void>;
  /** Removes bulks that were applied before a time. */
  removeApplied(before: number): Promise<void>;
}

interface BulkDocument {
  _id: string;
  state: Bulk['state'];
  request: mongo.Binary;
  caller: string;
  traceparent: string;
  lease: string;
  leaseUntil: Date;
}

const leaseMs = 10_000;

/** The model of the bulks on a connection. */
export function bulkModel(connection: Connection): Model<BulkDocument> {
  const schema = new Schema<BulkDocument>(
    {
      _id: String,
      state: String,
      request: Schema.Types.Mixed,
      caller: String,
      traceparent: String,
      lease: String,
      leaseUntil: Date,
    },
    { versionKey: false, collection: 'bulks' },
  );
  schema.index({ state: 1, leaseUntil: 1 });
  return connection.model<BulkDocument>('Bulk', schema);
}

/** Opens the bulks on a connection. */
export function bulkStore(connection: Connection): BulkStore {
  const bulks = bulkModel(connection).collection as unknown as mongo.Collection<BulkDocument>;
  const until = (now: number) => new Date(now + leaseMs);
  return {
    insert: (given, now) =>
      storeCall(async () => {
        const bulk = { ...given, lease: randomUUID() };
        try {
          await bulks.insertOne(documentOf(bulk, until(now)));
          return bulk;
        } catch (error) {
          if (isDuplicateKey(error)) return undefined;
          throw error;
        }
      }),
    find: (id) => storeCall(async () => bulkOf(await bulks.findOne({ _id: id }))),
    takeOver: (id, now) =>
      storeCall(async () => {
        const isAbandoned = { _id: id, state: { $ne: 'applied' as const }, leaseUntil: { $lt: new Date(now) } };
        const lease = { $set: { lease: randomUUID(), leaseUntil: until(now) } };
        return bulkOf(await bulks.findOneAndUpdate(isAbandoned, lease, { returnDocument: 'after' }));
      }),
    abandoned: (now) =>
      storeCall(async () => {
        const open = {
          state: { $in: ['reserving' as const, 'applying' as const] },
          leaseUntil: { $lt: new Date(now) },
        };
        return (
          await bulks
            .find(open, { projection: { _id: 1 } })
            .limit(100)
            .toArray()
        ).map(({ _id }) => _id);
      }),
    startApplying: (bulk, now) =>
      storeCall(async () => {
        const held = { _id: bulk.id, lease: bulk.lease };
        const update = { $set: { state: 'applying' as const, leaseUntil: until(now) } };
        return (await bulks.updateOne(held, update)).matchedCount === 1;
      }),
    async prolong({ id, lease }, now) {
      await storeCall(() =>
        bulks.updateOne({ _id: id, lease, state: { $ne: 'applied' } }, { $set: { leaseUntil: until(now) } }),
      );
    },
    async finish(bulk, now) {
      const update = { state: 'applied' as const, request: new mongo.Binary(), caller: '', leaseUntil: new Date(now) };
      await storeCall(() => bulks.updateOne({ _id: bulk.id, lease: bulk.lease }, { $set: update }));
    },
    async remove({ id, lease }) {
      await storeCall(() => bulks.deleteOne({ _id: id, lease }));
    },
    async removeApplied(before) {
      await storeCall(() => bulks.deleteMany({ state: 'applied', leaseUntil: { $lt: new Date(before) } }));
    },
  };
}

function documentOf({ id, state, request, caller, traceparent, lease }: Bulk, leaseUntil: Date): BulkDocument {
  return { _id: id, state, request: new mongo.Binary(request), caller, traceparent, lease, leaseUntil };
}

function bulkOf(document: BulkDocument | null): Bulk | undefined {
  if (!document) return undefined;
  const { _id, state, request, caller, traceparent, lease } = document;
  return { id: _id, state, request: new Uint8Array(request.buffer), caller, traceparent, lease };
}
