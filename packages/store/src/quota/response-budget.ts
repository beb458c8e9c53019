import type { Connection } from 'mongoose';
import { buildHourIndexes, exceededForMs, type HourBytes, openHourlyBytes } from './hourly-bytes.ts';

/** Whose responses are stored, and how many bytes of them are stored at most. */
export interface ResponseOwner {
  name: string;
  maxBytes: number;
}

/** How many bytes of responses are stored for each owner. */
export interface ResponseBudget {
  /** Returns how long the owner is above its limit, in ms; undefined if it is not. */
  exceededForMs(owner: ResponseOwner): Promise<number | undefined>;
  /** Counts a response, before it is stored. */
  add(owner: ResponseOwner, bytes: number): Promise<void>;
  removeExpired(): Promise<void>;
}

/** The counts of an owner in this process. */
interface Account {
  hours: Promise<readonly HourBytes[]>;
  readAt: number;
  /** Bytes that `hours` does not contain: counted since it was read, or not stored yet then. */
  added: number;
  /** The part of `added` that is not stored yet. */
  unsaved: number;
}

const collection = 'idempotencyBytes';
/** Other processes store responses of the same owner. */
const readEveryMs = 60_000;
/** Small responses are counted together, so that few requests write their count. */
const saveAtBytes = 1024 * 1024;
const maxAccounts = 10_000;

/** Creates the indexes of the counts. */
export async function buildBudgetIndexes(connection: Connection): Promise<void> {
  await buildHourIndexes(connection, collection);
}

/**
 * Opens the counts on a connection. They are exact to about 1 MiB, and to what other processes have stored in the last
 * minute. Units: `now` and `keptMs` in milliseconds.
 */
export function openResponseBudget(connection: Connection, now: () => number, keptMs: number): ResponseBudget {
  const stored = openHourlyBytes(connection, collection, { now, keptMs });
  const accounts = new Map<string, Account>();

  function findAccount(owner: string): Account {
    const known = accounts.get(owner);
    if (known && performance.now() - known.readAt < readEveryMs) return known;
    const hours = stored.hours(owner);
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
    await stored.add(owner, bytes);
  }

  return {
    async exceededForMs({ name, maxBytes }) {
      const account = findAccount(name);
      const hours = await account.hours.catch(() => []);
      return exceededForMs(hours, { added: account.added, maxBytes, now: now(), keptMs });
    },
    async add({ name }, bytes) {
      const account = findAccount(name);
      account.added += bytes;
      account.unsaved += bytes;
      if (account.unsaved >= saveAtBytes) await save(name, account);
    },
    removeExpired: stored.removeExpired,
  };
}
