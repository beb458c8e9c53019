import { randomUUID } from 'node:crypto';
import type { Connection, mongo } from 'mongoose';
import type { Query } from './field-query.ts';
import { serverTime } from './server-time.ts';
import { isDuplicateKey } from './store-error.ts';

/** Who works on a document, and until when nobody else may, by the clock of the database server. */
export interface Lease {
  owner: string;
  expiresAt: Date;
}

/** A document that one process at a time works on; nobody does where the lease is missing, null or has expired. */
export interface Leased {
  _id: string;
  lease?: Lease | null;
}

/** A document that was claimed, and by whom. */
export interface Claimed {
  id: string;
  owner: string;
}

/** What a claim changes beside the lease. */
export interface ClaimOptions {
  set?: Query;
  increment?: Query;
  /** What a document that is made by the claim holds, under the `_id` of the filter; without it none is made. */
  setOnInsert?: Query;
  sort?: Record<string, 1 | -1>;
  /** The claiming member of a group, if one owner holds many documents; else every claim has an owner of its own. */
  owner?: string;
}

/** The leases on the documents of a collection. */
export interface Leases<Document extends Leased> {
  /** A lease that begins now, for a document that is inserted with it. */
  begin(owner?: string): Lease;
  /** Matches documents that nobody holds. */
  isFree(): Query;
  /** Matches a document while its claim holds. */
  isHeld(claimed: Claimed): Query;
  /** Claims a document that matches; undefined if there is none that is free. */
  claim(filter: Query, options?: ClaimOptions): Promise<(Document & { lease: Lease }) | undefined>;
  /** Prolongs a claim, with a change of the document if there is one. Returns false if another holds the document now. */
  renew(claimed: Claimed, set?: Query): Promise<boolean>;
  /** Ends a claim, with a change of the document if there is one. Returns false if another holds the document now. */
  release(claimed: Claimed, set?: Query): Promise<boolean>;
}

/**
 * Opens the leases of a collection. Whoever has claimed a document must renew the lease before `durationMs` are over; a
 * process that was stopped for longer may still believe that it holds the document, so what it writes at the end is guarded
 * by `isHeld`, or bears being done twice.
 */
export function openLeases<Document extends Leased>(
  collection: mongo.Collection<Document>,
  { connection, durationMs, now = () => serverTime(connection) }: LeaseOptions,
): Leases<Document> {
  const expiry = () => new Date(now() + durationMs);
  const isFree = () => ({ 'lease.expiresAt': { $not: { $gt: new Date(now()) } } });
  const isHeld = ({ id, owner }: Claimed) => ({ _id: id, 'lease.owner': owner });
  const update = async (filter: Query, set: Query) =>
    (await collection.updateOne(filter as never, { $set: set } as never)).matchedCount === 1;
  return {
    begin: (owner = randomUUID()) => ({ owner, expiresAt: expiry() }),
    isFree,
    isHeld,
    async claim(filter, { set = {}, increment, setOnInsert, sort, owner = randomUUID() } = {}) {
      const lease = { owner, expiresAt: expiry() };
      const change = { $set: { ...set, lease }, ...(increment ? { $inc: increment } : {}) };
      const options = { returnDocument: 'after' as const, ...(sort ? { sort } : {}) };
      const claimed = await collection.findOneAndUpdate({ ...filter, ...isFree() } as never, change as never, options);
      if (claimed || !setOnInsert) return (claimed as (Document & { lease: Lease }) | null) ?? undefined;
      // Not by an upsert: servers report a key that exists already in different ways there.
      const document = { ...setOnInsert, ...increment, ...set, _id: filter._id, lease };
      try {
        await collection.insertOne(document as never);
        return document as unknown as Document & { lease: Lease };
      } catch (error) {
        // It exists, and another holds it.
        if (isDuplicateKey(error)) return undefined;
        throw error;
      }
    },
    renew: (claimed, set = {}) => update(isHeld(claimed), { ...set, 'lease.expiresAt': expiry() }),
    release: (claimed, set = {}) => update(isHeld(claimed), { ...set, lease: null }),
  };
}

/** How long a claim holds without being renewed. */
export interface LeaseOptions {
  connection: Connection;
  durationMs: number;
  /** The time of the database server, in Unix milliseconds. */
  now?: () => number;
}

/** Renews a claim again and again while something is done for it; what a single renewal fails with is tried again. */
export async function whileRenewing<Result>(
  renew: () => Promise<unknown>,
  everyMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const timer = setInterval(() => {
    renew().catch(() => undefined);
  }, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
