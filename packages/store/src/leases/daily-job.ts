import type { Connection } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';
import { storeCall } from '../document/store-error.ts';
import { type Leased, openLeases } from './lease.ts';

/** A job that one of the replicas of a service runs once a day. Errors of every operation: store_unavailable. */
export interface DailyJob {
  /** Claims the run of a day (`2026-01-31`); undefined if another replica has claimed it, or it has been finished. */
  claim(day: string): Promise<DailyRun | undefined>;
}

/** A claimed run. The claim expires 5 minutes after it was made or renewed. */
export interface DailyRun {
  /** Renews the claim. Returns false if another replica has claimed the run in the meantime. */
  renew(): Promise<boolean>;
  /** Records that the job is done for this day. */
  finish(): Promise<void>;
  /** Gives the claim up, so that another replica can claim the run at once. */
  release(): Promise<void>;
}

interface JobDocument extends Leased {
  /** The last day for which the job was finished. */
  doneDay?: string;
}

const durationMs = 5 * 60_000;

/** Opens the job with a name. Units: `now` in Unix milliseconds, by the clock of the database server. */
export function openDailyJob(connection: Connection, name: string, now?: () => number): DailyJob {
  const jobs = openCollection<JobDocument>(connection, 'dailyJobs');
  const leases = openLeases(jobs, { connection, durationMs, ...(now ? { now } : {}) });
  return {
    async claim(day) {
      const isDue = { _id: name, doneDay: { $not: { $gte: day } } };
      const claimed = await storeCall(() => leases.claim(isDue, { setOnInsert: {} }));
      if (!claimed) return undefined;
      const claim = { id: name, owner: claimed.lease.owner };
      return {
        renew: () => storeCall(() => leases.renew(claim)),
        finish: async () => void (await storeCall(() => leases.release(claim, { doneDay: day }))),
        release: async () => void (await storeCall(() => leases.release(claim))),
      };
    },
  };
}
