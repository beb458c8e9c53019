import type { Connection, mongo } from 'mongoose';
import { type Leased, openLeases } from './lease.ts';
import { storeCall } from './store-error.ts';

/** Work that one of the replicas of a service does once a day. Errors of every operation: store_unavailable. */
export interface DailyJob {
  /** Claims the work of a day (`2026-01-31`); undefined if another replica does it, or it has been done. */
  claim(day: string): Promise<DailyRun | undefined>;
}

/** The work of a day, claimed for 5 minutes at a time. */
export interface DailyRun {
  /** Says that the work goes on; returns false if another has claimed it meanwhile. */
  renew(): Promise<boolean>;
  finish(): Promise<void>;
  /** Lets another begin at once. */
  release(): Promise<void>;
}

interface JobDocument extends Leased {
  /** The last day whose work was done. */
  doneDay?: string;
}

const durationMs = 5 * 60_000;

/** Opens a job by its name. */
export function openDailyJob(connection: Connection, name: string, now?: () => number): DailyJob {
  const jobs = connection.collection('dailyJobs') as unknown as mongo.Collection<JobDocument>;
  const leases = openLeases(jobs, { connection, durationMs, ...(now ? { now } : {}) });
  return {
    async claim(day) {
      const isDue = { _id: name, doneDay: { $not: { $gte: day } } };
      const claimed = await storeCall(() => leases.claim(isDue, { setOnInsert: {} }));
      if (!claimed) return undefined;
      const mine = { id: name, owner: claimed.lease.owner };
      return {
        renew: () => storeCall(() => leases.renew(mine)),
        finish: async () => void (await storeCall(() => leases.release(mine, { doneDay: day }))),
        release: async () => void (await storeCall(() => leases.release(mine))),
      };
    },
  };
}
