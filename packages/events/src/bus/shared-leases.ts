import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { aborted } from '@ticketing/runtime/wakeful-loop.ts';
import { type Database, isDuplicateKey } from '@ticketing/store/database.ts';
import type { mongo } from 'mongoose';

/** A part of the work that members of a group share, as one of them has it. */
export interface LeaseDocument {
  /** The group and the part. */
  _id: string;
  owner: string | null;
  leasedUntil: Date;
}

interface MemberDocument {
  _id: string;
  group: string;
  until: Date;
}

/** What a group shares, and how a member does its part. */
export interface SharedWork<Lease extends LeaseDocument> {
  /** The collection of the leases; that of the members stands beside it. */
  collection: string;
  group: string;
  parts: readonly string[];
  /** What the lease of a part holds beside its owner when it is made. */
  initial: Omit<Lease, keyof LeaseDocument>;
  /** Begins a part; `signal` aborts when it goes to another. Resolves when nothing of it is being done any more. */
  work(part: string, lease: Lease, signal: AbortSignal): Promise<void>;
  onError(error: unknown): void;
}

/** A member of a group, at work. */
export interface Member {
  /** The parts that this member holds. */
  held(): string[];
  /** Resolves when all parts are given back. */
  stop(): Promise<void>;
}

const leaseMs = 5_000;
const renewMs = 1_000;

/**
 * Shares parts of work evenly among the members of a group, in any number of processes. A part is done by the member that
 * holds its lease; one whose lease has run out without renewal goes to another, while the first may not know it yet: what
 * a part writes at its end must be guarded by the owner, or bear being done twice.
 */
export function shareWork<Lease extends LeaseDocument>(
  { connection, opened }: Pick<Database, 'connection' | 'opened'>,
  shared: SharedWork<Lease>,
): Member {
  const { group } = shared;
  const leases = connection.collection(shared.collection) as unknown as mongo.Collection<LeaseDocument>;
  const members = connection.collection(`${shared.collection}Members`) as unknown as mongo.Collection<MemberDocument>;
  const id = randomUUID();
  const memberId = `${group}/${id}`;
  const stopping = new AbortController();
  const held = new Map<string, { stop: AbortController; ended: Promise<void> }>();
  const leaseId = (part: string) => `${group}/${part}`;

  /** The parts that fall to this member, when all who live share them evenly. */
  async function share(): Promise<Set<string>> {
    const now = new Date();
    await members.updateOne(
      { _id: memberId },
      { $set: { group, until: new Date(now.getTime() + leaseMs) } },
      { upsert: true },
    );
    await members.deleteMany({ group, until: { $lt: now } });
    const living = (await members.find({ group }).toArray()).map(({ _id }) => _id).sort();
    const mine = living.indexOf(memberId);
    return new Set(shared.parts.filter((_, index) => index % living.length === mine));
  }

  /** Prolongs the leases that are held; answers the parts that still are. */
  async function prolong(): Promise<Set<string>> {
    const ids = [...held.keys()].map(leaseId);
    if (ids.length === 0) return new Set();
    const own = { _id: { $in: ids }, owner: id };
    await leases.updateMany(own, { $set: { leasedUntil: new Date(Date.now() + leaseMs) } });
    const kept = await leases.find(own, { projection: { _id: 1 } }).toArray();
    return new Set(kept.map(({ _id }) => _id.slice(group.length + 1)));
  }

  /** Takes the lease of a part; undefined if another has it. */
  async function take(part: string): Promise<Lease | undefined> {
    const now = new Date();
    try {
      const lease = await leases.findOneAndUpdate(
        { _id: leaseId(part), $or: [{ owner: null }, { leasedUntil: { $lt: now } }] },
        {
          $set: { owner: id, leasedUntil: new Date(now.getTime() + leaseMs) },
          ...(Object.keys(shared.initial).length === 0 ? {} : { $setOnInsert: shared.initial as object }),
        },
        { upsert: true, returnDocument: 'after' },
      );
      return (lease as Lease | null) ?? undefined;
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  function begin(part: string, lease: Lease): void {
    const stop = new AbortController();
    const ended = shared
      .work(part, lease, stop.signal)
      .catch(shared.onError)
      .then(() => giveBack(part))
      .catch(shared.onError)
      .finally(() => held.delete(part));
    held.set(part, { stop, ended });
  }

  async function giveBack(part: string): Promise<void> {
    await leases.updateOne({ _id: leaseId(part), owner: id }, { $set: { owner: null } });
  }

  async function renew(): Promise<void> {
    const wanted = await share();
    const kept = await prolong();
    for (const [part, { stop }] of held) if (!wanted.has(part) || !kept.has(part)) stop.abort();
    for (const part of wanted) {
      if (held.has(part)) continue;
      const lease = await take(part);
      if (lease) begin(part, lease);
    }
  }

  async function leave(): Promise<void> {
    await members.deleteOne({ _id: memberId });
  }

  async function run(): Promise<void> {
    let hasFailed = false;
    await Promise.race([opened, aborted(stopping.signal)]);
    while (!stopping.signal.aborted) {
      try {
        await renew();
        hasFailed = false;
      } catch (error) {
        // Said once, however long it lasts.
        if (!hasFailed) shared.onError(error);
        hasFailed = true;
      }
      await setTimeout(renewMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    for (const { stop } of held.values()) stop.abort();
    await Promise.all([...held.values()].map(({ ended }) => ended));
    // Nobody waits for it; a member that does not say that it lives is forgotten.
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
