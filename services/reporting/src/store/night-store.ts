import { isDuplicateKey, reachable } from '@ticketing/store/database.ts';
import type { Connection, mongo } from 'mongoose';

interface NightDocument {
  _id: string;
  day: string;
}

/** Claims the nightly work of a day; answers false if another replica has it, or has done it. Errors: store_unavailable. */
export function claimNight(connection: Connection, day: string): Promise<boolean> {
  const nights = connection.collection('nights') as unknown as mongo.Collection<NightDocument>;
  return reachable(async () => {
    try {
      const filter = { _id: 'reconciliation', day: { $lt: day } };
      const result = await nights.updateOne(filter, { $set: { day } }, { upsert: true });
      return result.matchedCount + result.upsertedCount === 1;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  });
}
