import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { aborted } from '@ticketing/runtime/wakeful-loop.ts';
import type { Connection } from 'mongoose';
import type { Database } from '../connection/database.ts';
import { openCollection } from '../connection/open-collection.ts';
import type { Query } from '../document/field-query.ts';
import { openMembership } from './group-membership.ts';
import { type Lease, type Leased, openLeases } from './lease.ts';

/** The parts that the members of a group divide among themselves, and the work on a part. */
export interface LeaseGroupOptions<Part extends Leased> {
  /** The collection of the parts. The members are kept in a collection of the same name with the suffix `Groups`. */
  collection: string;
  group: string;
  parts: readonly string[];
  /** The fields of a part's document, besides its lease, when it is created. */
  initial: Omit<Part, keyof Leased>;
  /** Works on a part until `signal` aborts, and resolves when nothing of that work is in progress any more. */
  work(part: string, document: Part & { lease: Lease }, signal: AbortSignal): Promise<void>;
  onError(error: unknown): void;
  times?: LeaseGroupTimes | undefined;
}

/** The times of a group, the same for all its members. */
export interface LeaseGroupTimes {
  /** How long a member that does not renew its leases counts as alive. */
  durationMs: number;
  /** How often a member that has leased exactly its share renews its leases. */
  renewMs: number;
  /** How often a member tries again to claim the parts of its share that others still own. */
  waitMs: number;
}

/** A member of a group that claims its share of the parts and works on them. */
export interface LeaseGroupMember {
  /** Returns the parts whose leases this member owns. */
  ownedParts(): string[];
  /** Stops the work, and resolves when all parts are released. */
  stop(): Promise<void>;
}

const defaultTimes: LeaseGroupTimes = { durationMs: 15_000, renewMs: 5_000, waitMs: 500 };

/**
 * Shares parts of work evenly among the members of a group, in any number of processes. Each part is a document, which
 * one member claims and renews while it works on it. A member that crashes or stops renewing loses its parts to others.
 * It may not have noticed yet, so what it writes at the end of a part must check its ownership, or be harmless when
 * done twice.
 *
 * A member of a group in which nothing changes makes two store operations every 5 seconds.
 */
export function joinLeaseGroup<Part extends Leased>(
  { connection, opened }: Pick<Database, 'connection' | 'opened'>,
  options: LeaseGroupOptions<Part>,
): LeaseGroupMember {
  const owner = randomUUID();
  const stopping = new AbortController();
  const times = options.times ?? defaultTimes;
  const owned = ownedParts(connection, owner, { ...options, times });
  const groups = `${options.collection}Groups`;
  const membership = openMembership(connection, {
    collection: groups,
    group: options.group,
    member: owner,
    durationMs: times.durationMs,
  });

  /** Returns whether this member now owns exactly its share. */
  async function renew(): Promise<boolean> {
    const { index, count } = await membership.renew();
    const share = new Set(options.parts.filter((_, part) => part % count === index));
    const renewed = await owned.renew();
    owned.stopAllExcept(new Set([...share].filter((part) => renewed.has(part))));
    for (const part of share) await owned.claim(part);
    const names = owned.names();
    return names.length === share.size && names.every((part) => share.has(part));
  }

  async function run(): Promise<void> {
    await Promise.race([opened, aborted(stopping.signal)]);
    await renewUntilAborted(stopping.signal, renew, { ...times, onError: options.onError });
    await owned.stop();
    // If this fails, the membership expires.
    await membership.leave().catch(() => undefined);
  }

  const ended = run();
  return {
    ownedParts: owned.names,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** Renews at an interval, which is shorter while the member does not own exactly its share. */
async function renewUntilAborted(
  signal: AbortSignal,
  renew: () => Promise<boolean>,
  { renewMs, waitMs, onError }: Pick<LeaseGroupTimes, 'renewMs' | 'waitMs'> & { onError(error: unknown): void },
): Promise<void> {
  let hasFailed = false;
  while (!signal.aborted) {
    let ownsShare = false;
    try {
      ownsShare = await renew();
      hasFailed = false;
    } catch (error) {
      // A failure that lasts is reported once.
      if (!hasFailed) onError(error);
      hasFailed = true;
    }
    await setTimeout(ownsShare ? renewMs : waitMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the parts that a member owns, each with the work on it. */
function ownedParts<Part extends Leased>(
  connection: Connection,
  owner: string,
  options: LeaseGroupOptions<Part> & { times: LeaseGroupTimes },
) {
  const parts = openCollection<Part>(connection, options.collection);
  const leases = openLeases(parts, { connection, durationMs: options.times.durationMs });
  const owned = new Map<string, { stop: AbortController; ended: Promise<void> }>();
  const leaseId = (part: string) => `${options.group}/${part}`;

  function begin(part: string, document: Part & { lease: Lease }): void {
    const stop = new AbortController();
    const ended = options
      .work(part, document, stop.signal)
      .catch(options.onError)
      .then(() => leases.release({ id: leaseId(part), owner }))
      .then(() => undefined, options.onError)
      .finally(() => owned.delete(part));
    owned.set(part, { stop, ended });
  }

  return {
    names: () => [...owned.keys()],
    /** Renews the leases of all owned parts, and returns those that this member still owns. */
    async renew(): Promise<Set<string>> {
      const names = [...owned.keys()];
      if (names.length === 0) return new Set();
      const isOwned: Query = { _id: { $in: names.map(leaseId) }, 'lease.owner': owner };
      const change: Query = { $set: { lease: leases.begin(owner) } };
      const { matchedCount } = await parts.updateMany(isOwned as never, change as never);
      if (matchedCount === names.length) return new Set(names);
      const found = await parts.find(isOwned as never, { projection: { _id: 1 } }).toArray();
      return new Set(found.map(({ _id }) => String(_id).slice(options.group.length + 1)));
    },
    /** Claims a part and begins to work on it, unless this or another member owns it. */
    async claim(part: string): Promise<void> {
      if (owned.has(part)) return;
      const document = await leases.claim({ _id: leaseId(part) }, { owner, setOnInsert: options.initial as Query });
      if (document) begin(part, document);
    },
    /** Stops the work on all parts but these. Each part is released when its work has ended. */
    stopAllExcept(kept: ReadonlySet<string>): void {
      for (const [part, { stop }] of owned) if (!kept.has(part)) stop.abort();
    },
    async stop(): Promise<void> {
      for (const { stop } of owned.values()) stop.abort();
      await Promise.all([...owned.values()].map(({ ended }) => ended));
    },
  };
}
