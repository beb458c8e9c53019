import type { Connection } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';
import { retryUpsert } from '../document/store-error.ts';

/** Bytes that were counted for an owner within an hour, and when they stop to count. */
export interface HourBytes {
  bytes: number;
  expiresAt: Date;
}

/** Counts bytes of owners in whole hours, for all replicas. Errors: those of the database. */
export interface HourlyBytes {
  /** Counts bytes, by default in the current hour; negative ones are counted no longer. */
  add(owner: string, bytes: number, hour?: number): Promise<void>;
  /** Returns the current hour. */
  hour(): number;
  /** Returns the hours that count. */
  hours(owner: string): Promise<HourBytes[]>;
  removeExpired(): Promise<void>;
}

interface HourDocument extends HourBytes {
  _id: string;
  owner: string;
}

const hourMs = 3_600_000;

const openHours = (connection: Connection, name: string) => openCollection<HourDocument>(connection, name);

/** Creates the indexes of the counts in a collection. */
export async function buildHourIndexes(connection: Connection, name: string): Promise<void> {
  await openHours(connection, name).createIndex({ owner: 1, expiresAt: 1 });
  await openHours(connection, name).createIndex({ expiresAt: 1 });
}

/**
 * Opens the counts in a collection. An hour counts for `keptMs` after its end. Units: `now` and `keptMs` in milliseconds.
 */
export function openHourlyBytes(
  connection: Connection,
  name: string,
  { now, keptMs }: { now(): number; keptMs: number },
): HourlyBytes {
  const collection = openHours(connection, name);
  const currentHour = () => Math.floor(now() / hourMs);
  return {
    hour: currentHour,
    async add(owner, bytes, hour = currentHour()) {
      const expiresAt = new Date((hour + 1) * hourMs + keptMs);
      const change = { $inc: { bytes }, $set: { owner, expiresAt } };
      await retryUpsert(() => collection.updateOne({ _id: `${owner}/${hour}` }, change, { upsert: true }));
    },
    hours: (owner) => collection.find({ owner, expiresAt: { $gt: new Date(now()) } }).toArray(),
    async removeExpired() {
      await collection.deleteMany({ expiresAt: { $lte: new Date(now()) } });
    },
  };
}

/**
 * Returns how long it takes until less than `maxBytes` count, in ms; undefined if less do. `added` counts until the end.
 */
export function exceededForMs(
  hours: readonly HourBytes[],
  { added, maxBytes, now, keptMs }: { added: number; maxBytes: number; now: number; keptMs: number },
): number | undefined {
  const ordered = [...hours].sort((left, right) => left.expiresAt.getTime() - right.expiresAt.getTime());
  let used = ordered.reduce((sum, { bytes }) => sum + bytes, added);
  if (used < maxBytes) return undefined;
  for (const { bytes, expiresAt } of ordered) {
    used -= bytes;
    if (used < maxBytes) return Math.max(0, expiresAt.getTime() - now);
  }
  return keptMs;
}
