import { randomUUID } from 'node:crypto';
import type { Connection, mongo } from 'mongoose';
import { serverTime } from '../connection/server-time.ts';
import type { Query } from '../document/field-query.ts';
import { isDuplicateKey } from '../document/store-error.ts';

/** Which process works on a document, and until when no other may, by the clock of the database server. */
export interface Lease {
  owner: string;
  expiresAt: Date;
}

/** A document on which one process works at a time; none does if its lease is missing, null or expired. */
export interface Leased<Id extends string | number = string> {
  _id: Id;
  lease?: Lease | null;
}

/** The id of a claimed document, and the owner of its lease. */
export interface Claimed<Id extends string | number = string> {
  id: Id;
  owner: string;
}

/** Options of a claim: what it changes besides the lease, and which document it prefers. */
export interface ClaimOptions {
  set?: Query;
  increment?: Query;
  /** The fields, besides `_id`, of a document that is created if none matches; if undefined, none is created. */
  setOnInsert?: Query;
  sort?: Record<string, 1 | -1>;
  /** The owner of the lease. By default every claim has a new one; a member of a group uses one for all its claims. */
  owner?: string;
}

/** A claim of a document that was read: the state that it must still have, and what changes besides the lease. */
export interface ReadClaim {
  isUnchanged: Query;
  set?: Query;
  increment: Record<string, number>;
}

/** The leases on the documents of a collection. */
export interface Leases<Document extends Leased<string | number>> {
  /** Makes a lease that begins now, for a document that the caller inserts with it. */
  begin(owner?: string): Lease;
  /** Matches documents without a lease, and those whose lease has expired. */
  isFree(): Query;
  /** Matches a document while its lease has the owner of the claim. */
  isHeld(claimed: Claimed<Document['_id']>): Query;
  /** Claims a matching document that can be claimed; undefined if there is none. */
  claim(filter: Query, options?: ClaimOptions): Promise<(Document & { lease: Lease }) | undefined>;
  /**
   * Claims the first matching documents that can be claimed, all with one owner. Those that other processes change or claim
   * meanwhile are left out. Returns them as `toClaim` has changed them.
   */
  claimSome(
    filter: Query,
    page: { sort: Record<string, 1 | -1>; limit: number },
    toClaim: (document: Document) => ReadClaim,
  ): Promise<(Document & { lease: Lease })[]>;
  /** Finds out which documents an owner still holds. */
  heldBy(owner: string, ids: readonly Document['_id'][]): Promise<Set<Document['_id']>>;
  /**
   * Renews a claim, and changes the document as `set` says. Returns false if another process has claimed the document.
   */
  renew(claimed: Claimed<Document['_id']>, set?: Query): Promise<boolean>;
  /**
   * Ends a claim, and changes the document as `set` says. Returns false if another process has claimed the document.
   */
  release(claimed: Claimed<Document['_id']>, set?: Query): Promise<boolean>;
}

const maxClaims = 3;

/**
 * Opens the leases of a collection. A process that has claimed a document must renew the lease within `durationMs`. One
 * that was paused for longer may not have noticed that its lease has expired, so what it writes at the end must be
 * guarded by `isHeld`, or be harmless when done twice.
 */
export function openLeases<Document extends Leased<string | number>>(
  collection: mongo.Collection<Document>,
  { connection, durationMs, now = () => serverTime(connection) }: LeaseOptions,
): Leases<Document> {
  const expiry = () => new Date(now() + durationMs);
  const isFree = () => ({ 'lease.expiresAt': { $not: { $gt: new Date(now()) } } });
  const isHeld = ({ id, owner }: Claimed<Document['_id']>) => ({ _id: id, 'lease.owner': owner });
  const update = async (filter: Query, set: Query) =>
    (await collection.updateOne(filter as never, { $set: set } as never)).matchedCount === 1;
  const heldBy = async (owner: string, ids: readonly Document['_id'][]) => {
    const wanted = { _id: { $in: [...ids] }, 'lease.owner': owner };
    const held = await collection.find(wanted as never, { projection: { _id: 1 } }).toArray();
    return new Set(held.map(({ _id }) => _id as Document['_id']));
  };
  const begin = (owner: string = randomUUID()) => ({ owner, expiresAt: expiry() });
  const claimRead = async (documents: readonly Document[], filter: Query, toClaim: (one: Document) => ReadClaim) => {
    const lease = begin();
    const claims = documents.map((document) => ({ document, set: {}, ...toClaim(document) }));
    const writes = claims.map(({ document: { _id }, isUnchanged, set, increment }) => {
      const change = { $set: { ...set, lease }, $inc: increment };
      return { updateOne: { filter: { ...filter, ...isFree(), ...isUnchanged, _id }, update: change } };
    });
    const { matchedCount } = await collection.bulkWrite(writes as never, { ordered: false });
    const ids = documents.map(({ _id }) => _id as Document['_id']);
    const held = matchedCount === documents.length ? new Set(ids) : await heldBy(lease.owner, ids);
    return claims
      .filter(({ document }) => held.has(document._id))
      .map(({ document, set, increment }) => ({ ...document, ...set, ...increased(document, increment), lease }));
  };
  return {
    begin,
    heldBy,
    async claimSome(filter, { sort, limit }, toClaim) {
      for (let attempt = 1; attempt <= maxClaims; attempt++) {
        const wanted = { ...filter, ...isFree() };
        const found = (await collection.find(wanted as never, { sort, limit }).toArray()) as unknown as Document[];
        if (found.length === 0) return [];
        const claimed = await claimRead(found, filter, toClaim);
        // Other processes may have claimed all of them first.
        if (claimed.length > 0) return claimed;
      }
      return [];
    },
    isFree,
    isHeld,
    async claim(filter, given = {}) {
      const { set = {}, increment, setOnInsert, sort, owner = randomUUID() } = given;
      const lease = begin(owner);
      const change = { $set: { ...set, lease }, ...(increment ? { $inc: increment } : {}) };
      const options = { returnDocument: 'after' as const, ...(sort ? { sort } : {}) };
      // A member that could not release a document still has its lease, and may continue its work.
      const mayClaim = given.owner === undefined ? isFree() : { $or: [isFree(), { 'lease.owner': owner }] };
      const claimed = await collection.findOneAndUpdate({ ...filter, ...mayClaim } as never, change as never, options);
      if (claimed || !setOnInsert) return (claimed as (Document & { lease: Lease }) | null) ?? undefined;
      // An upsert would not do: servers report a key that exists already in different ways there.
      const document = { ...setOnInsert, ...increment, ...set, _id: filter._id, lease };
      try {
        await collection.insertOne(document as never);
        return document as unknown as Document & { lease: Lease };
      } catch (error) {
        // The document exists, and another process has leased it.
        if (isDuplicateKey(error)) return undefined;
        throw error;
      }
    },
    renew: (claimed, set = {}) => update(isHeld(claimed), { ...set, 'lease.expiresAt': expiry() }),
    release: (claimed, set = {}) => update(isHeld(claimed), { ...set, lease: null }),
  };
}

function increased(document: object, increment: Record<string, number>): Record<string, number> {
  const values = document as Record<string, number | undefined>;
  return Object.fromEntries(Object.entries(increment).map(([name, by]) => [name, (values[name] ?? 0) + by]));
}

/** How long a claim lasts without being renewed, and by which clock. */
export interface LeaseOptions {
  connection: Connection;
  durationMs: number;
  /** The time of the database server, in Unix milliseconds. */
  now?: () => number;
}

/** Renews a claim at an interval while `work` runs. A renewal that fails is repeated at the next interval. */
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
