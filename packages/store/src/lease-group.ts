import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { aborted } from '@ticketing/runtime/wakeful-loop.ts';
import type { mongo } from 'mongoose';
import type { Database } from './database.ts';
import type { Query } from './field-query.ts';
import { type Lease, type Leased, openLeases } from './lease.ts';
import { serverTime } from './server-time.ts';
import { retryUpsert } from './store-error.ts';

/** The members of a group, and until when each is taken for alive. */
interface GroupDocument {
  _id: string;
  members?: Record<string, Date>;
}

/** What a group shares, and how a member does its part. */
export interface LeaseGroupOptions<Part extends Leased> {
  /** The collection of the parts; that of the groups stands beside it. */
  collection: string;
  group: string;
  parts: readonly string[];
  /** What the document of a part holds beside its lease when it is made. */
  initial: Omit<Part, keyof Leased>;
  /** Begins a part; `signal` aborts when it goes to another. Resolves when nothing of it is being done any more. */
  work(part: string, held: Part & { lease: Lease }, signal: AbortSignal): Promise<void>;
  onError(error: unknown): void;
  times?: LeaseGroupTimes | undefined;
}

/** The times of a group, the same for all its members. */
export interface LeaseGroupTimes {
  /** How long a member that does not renew its leases is taken for alive. */
  durationMs: number;
  /** How often a member that holds its share renews its leases. */
  renewMs: number;
  /** How often one that waits for parts which others still hold looks again. */
  waitMs: number;
}

/** A member of a group, at work. */
export interface LeaseGroupMember {
  /** The parts that this member holds. */
  held(): string[];
  /** Resolves when all parts are released. */
  stop(): Promise<void>;
}

const defaultTimes: LeaseGroupTimes = { durationMs: 9_000, renewMs: 3_000, waitMs: 500 };

/**
 * Shares parts of work evenly among the members of a group, in any number of processes. Each part is a document, which one
 * member claims and renews while it works on it. A member that dies or stops renewing loses its parts to others, and may not
 * know it yet: what it writes at the end of a part is guarded by its ownership, or bears being done twice.
 *
 * A group in which nothing changes costs two operations every 3 seconds and member.
 */
export function joinLeaseGroup<Part extends Leased>(
  { connection, opened }: Pick<Database, 'connection' | 'opened'>,
  options: LeaseGroupOptions<Part>,
): LeaseGroupMember {
  const { group } = options;
  const { durationMs, renewMs, waitMs } = options.times ?? defaultTimes;
  const parts = connection.collection(options.collection) as unknown as mongo.Collection<Part>;
  const groups = connection.collection(`${options.collection}Groups`) as unknown as mongo.Collection<GroupDocument>;
  const leases = openLeases(parts, { connection, durationMs });
  const owner = randomUUID();
  const stopping = new AbortController();
  const held = new Map<string, { stop: AbortController; ended: Promise<void> }>();
  const idOf = (part: string) => `${group}/${part}`;
  let expired: string[] = [];

  /** Says that this member lives, and returns the parts that fall to it when all who live share them evenly. */
  async function share(): Promise<Set<string>> {
    const now = serverTime(connection);
    const change: Query = {
      $set: { [`members.${owner}`]: new Date(now + durationMs) },
      ...(expired.length > 0 ? { $unset: Object.fromEntries(expired.map((id) => [`members.${id}`, 1])) } : {}),
    };
    const document = await retryUpsert(() =>
      groups.findOneAndUpdate({ _id: group }, change, { upsert: true, returnDocument: 'after' }),
    );
    const members = Object.entries(document?.members ?? {});
    expired = members.filter(([, until]) => until.getTime() < now - durationMs).map(([id]) => id);
    const living = members.filter(([, until]) => until.getTime() >= now).map(([id]) => id);
    living.sort();
    const mine = living.indexOf(owner);
    return new Set(options.parts.filter((_, index) => index % living.length === mine));
  }

  /** Renews the leases that are held, and returns the parts that still are. */
  async function renewHeld(): Promise<Set<string>> {
    const heldParts = [...held.keys()];
    if (heldParts.length === 0) return new Set();
    const isMine: Query = { _id: { $in: heldParts.map(idOf) }, 'lease.owner': owner };
    const change: Query = { $set: { lease: leases.begin(owner) } };
    const { matchedCount } = await parts.updateMany(isMine as never, change as never);
    if (matchedCount === heldParts.length) return new Set(heldParts);
    const found = await parts.find(isMine as never, { projection: { _id: 1 } }).toArray();
    return new Set(found.map(({ _id }) => String(_id).slice(group.length + 1)));
  }

  function begin(part: string, document: Part & { lease: Lease }): void {
    const stop = new AbortController();
    const ended = options
      .work(part, document, stop.signal)
      .catch(options.onError)
      .then(() => leases.release({ id: idOf(part), owner }))
      .then(() => undefined, options.onError)
      .finally(() => held.delete(part));
    held.set(part, { stop, ended });
  }

  /** Returns whether this member holds all that falls to it, and nothing else. */
  async function renew(): Promise<boolean> {
    const wanted = await share();
    const kept = await renewHeld();
    for (const [part, { stop }] of held) if (!wanted.has(part) || !kept.has(part)) stop.abort();
    for (const part of wanted) {
      if (held.has(part)) continue;
      const document = await leases.claim({ _id: idOf(part) }, { owner, setOnInsert: options.initial as Query });
      if (document) begin(part, document);
    }
    return held.size === wanted.size;
  }

  async function leave(): Promise<void> {
    await groups.updateOne({ _id: group }, { $unset: { [`members.${owner}`]: 1 } });
  }

  async function run(): Promise<void> {
    let hasFailed = false;
    await Promise.race([opened, aborted(stopping.signal)]);
    while (!stopping.signal.aborted) {
      let isSettled = false;
      try {
        isSettled = await renew();
        hasFailed = false;
      } catch (error) {
        // Reported once, however long it lasts.
        if (!hasFailed) options.onError(error);
        hasFailed = true;
      }
      const pauseMs = isSettled ? renewMs : waitMs;
      await setTimeout(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    for (const { stop } of held.values()) stop.abort();
    await Promise.all([...held.values()].map(({ ended }) => ended));
    // If this fails, the others find out when its time is over.
    await leave().catch(() => undefined);
  }

  const ended = run();
  return {
    held: () => [...held.keys()],
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
