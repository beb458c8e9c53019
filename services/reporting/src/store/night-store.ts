import { randomUUID } from 'node:crypto';
import { isDuplicateKey, storeCall } from '@ticketing/store/database.ts';
import type { Connection, mongo } from 'mongoose';

/** The nightly work, which one replica does, once a day. Errors of every operation: store_unavailable. */
export interface NightStore {
  /** Answers false if another replica does the work of a day, or it has been done. A claim ends by itself after 5 minutes. */
  claim(day: string): Promise<boolean>;
  /** Says that the work goes on; answers false if another has claimed it meanwhile. */
  extend(): Promise<boolean>;
  finish(day: string): Promise<void>;
  /** Lets another begin at once, if this one has not finished. */
  release(): Promise<void>;
}

interface NightDocument {
  _id: string;
  /** The last day whose work was done. */
  doneDay?: string;
  /** Who does it, and until when nobody else begins. */
  owner?: string;
  leaseUntil?: Date;
}

const leaseMs = 5 * 60_000;
const _id = 'reconciliation';

/** Opens the nightly work on a connection. */
export function nightStore(connection: Connection, now: () => number = Date.now): NightStore {
  const nights = connection.collection('nights') as unknown as mongo.Collection<NightDocument>;
  const owner = randomUUID();
  const mine = () => ({ owner, leaseUntil: new Date(now() + leaseMs) });
  return {
    claim: (day) =>
      storeCall(async () => {
        const isFree = { _id, doneDay: { $not: { $gte: day } }, leaseUntil: { $not: { $gt: new Date(now()) } } };
        try {
          const result = await nights.updateOne(isFree, { $set: mine() }, { upsert: true });
          return result.matchedCount + result.upsertedCount === 1;
        } catch (error) {
          if (isDuplicateKey(error)) return false;
          throw error;
        }
      }),
    extend: () => storeCall(async () => (await nights.updateOne({ _id, owner }, { $set: mine() })).matchedCount === 1),
    finish: (day) =>
      storeCall(async () => {
        await nights.updateOne({ _id, owner }, { $max: { doneDay: day }, $unset: { owner: 1, leaseUntil: 1 } });
      }),
    release: () =>
      storeCall(async () => void (await nights.updateOne({ _id, owner }, { $unset: { owner: 1, leaseUntil: 1 } }))),
  };
}
