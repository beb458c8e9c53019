import type { Connection } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';
import { serverTime } from '../connection/server-time.ts';

/** When something of a service was last seen at work, by the clock of the database server. */
interface SightingDocument {
  _id: string;
  seenAt: Date;
}

/** The name under which the last complete backup is noted. */
export const backupSighting = 'backup';
/** The name under which the last line of the ledger of deletions is noted. */
export const ledgerSighting = 'ledger';

/** Notes in the store of a service when its parts were seen at work, so that any process can report missing ones. */
export interface LastSeen {
  /** Notes that these were seen now. */
  note(names: readonly string[]): Promise<void>;
  /** Counts the absence of these from now on, unless they were seen or expected before. */
  expect(names: readonly string[]): Promise<void>;
  /** Returns how long ago each of these was seen, or expected first; unknown ones are left out. Units: seconds. */
  ages(names: readonly string[]): Promise<Map<string, number>>;
}

/** Opens the sightings of a service. Errors of every operation: those of the driver. */
export function openLastSeen(connection: Connection): LastSeen {
  const sightings = openCollection<SightingDocument>(connection, 'lastSeen');
  const write = async (operator: '$set' | '$setOnInsert', names: readonly string[]) => {
    const seenAt = new Date(serverTime(connection));
    const writes = names.map((_id) => ({
      updateOne: { filter: { _id }, update: { [operator]: { seenAt } }, upsert: true },
    }));
    await sightings.bulkWrite(writes, { ordered: false });
  };
  return {
    note: (names) => write('$set', names),
    expect: (names) => write('$setOnInsert', names),
    async ages(names) {
      const found = await sightings.find({ _id: { $in: [...names] } }).toArray();
      const now = serverTime(connection);
      return new Map(found.map(({ _id, seenAt }) => [_id, Math.max(0, (now - seenAt.getTime()) / 1000)]));
    },
  };
}
