import type { Connection, mongo } from 'mongoose';
import { retryUpsert } from './store-error.ts';

/** Whose responses are stored, and how many bytes of them are stored at most. */
export interface ResponseOwner {
  name: string;
  maxBytes: number;
}

/** How many bytes of responses are stored for each owner. */
export interface ResponseBudget {
  /** How long the owner is above its limit, in ms; undefined if it is not. */
  exceededForMs(owner: ResponseOwner): Promise<number | undefined>;
  /** Counts a response, before it is stored. */
  add(owner: ResponseOwner, bytes: number): Promise<void>;
  removeExpired(): Promise<void>;
}

/** The bytes of responses that were stored for an owner within an hour. They count until the last of them expires. */
interface HourDocument {
  _id: string;
  owner: string;
  bytes: number;
  expiresAt: Date;
}

/** What a process knows of an owner. */
interface Account {
  hours: Promise<readonly Pick<HourDocument, 'bytes' | 'expiresAt'>[]>;
  readAt: number;
  /** What this process has counted since `hours` was read. */
  added: number;
  /** What of this is not stored yet. */
  unsaved: number;
}

const hourMs = 3_600_000;
/** Other processes store responses of the same owner. */
const readEveryMs = 60_000;
/** Small responses are counted together, so that few requests write their count. */
const saveAtBytes = 1024 * 1024;
const maxAccounts = 10_000;

const collectionOf = (connection: Connection) =>
  connection.collection('idempotencyBytes') as unknown as mongo.Collection<HourDocument>;

/** Creates the indexes of the counts. */
export async function buildBudgetIndexes(connection: Connection): Promise<void> {
  await collectionOf(connection).createIndex({ owner: 1, expiresAt: 1 });
  await collectionOf(connection).createIndex({ expiresAt: 1 });
}

/**
 * Opens the counts on a connection. They are exact to about 1 MiB, and to what other processes have stored in the last
 * minute. Units: `now` and `keptMs` in milliseconds.
 */
export function openResponseBudget(connection: Connection, now: () => number, keptMs: number): ResponseBudget {
  const collection = collectionOf(connection);
  const accounts = new Map<string, Account>();

  function accountOf(owner: string): Account {
    const known = accounts.get(owner);
    if (known && performance.now() - known.readAt < readEveryMs) return known;
    const hours = collection.find({ owner, expiresAt: { $gt: new Date(now()) } }).toArray();
    const unsaved = known?.unsaved ?? 0;
    const account = { hours, readAt: performance.now(), added: unsaved, unsaved };
    // A failed read refuses nobody; the next request reads again.
    hours.catch(() => accounts.delete(owner));
    accounts.delete(owner);
    accounts.set(owner, account);
    const [oldest] = accounts.keys();
    if (accounts.size > maxAccounts && oldest !== undefined) accounts.delete(oldest);
    return account;
  }

  async function save(owner: string, account: Account): Promise<void> {
    const bytes = account.unsaved;
    account.unsaved = 0;
    const hour = Math.floor(now() / hourMs);
    const expiresAt = new Date((hour + 1) * hourMs + keptMs);
    const change = { $inc: { bytes }, $set: { owner, expiresAt } };
    await retryUpsert(() => collection.updateOne({ _id: `${owner}/${hour}` }, change, { upsert: true }));
  }

  return {
    async exceededForMs({ name, maxBytes }) {
      const account = accountOf(name);
      const hours = await account.hours.catch(() => []);
      const ordered = [...hours].sort((left, right) => left.expiresAt.getTime() - right.expiresAt.getTime());
      let used = ordered.reduce((sum, { bytes }) => sum + bytes, account.added);
      if (used < maxBytes) return undefined;
      for (const { bytes, expiresAt } of ordered) {
        used -= bytes;
        if (used < maxBytes) return Math.max(0, expiresAt.getTime() - now());
      }
      return keptMs;
    },
    async add({ name }, bytes) {
      const account = accountOf(name);
      account.added += bytes;
      account.unsaved += bytes;
      if (account.unsaved >= saveAtBytes) await save(name, account);
    },
    async removeExpired() {
      await collection.deleteMany({ expiresAt: { $lte: new Date(now()) } });
    },
  };
}
