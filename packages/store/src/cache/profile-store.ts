import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { type Connection, Schema } from 'mongoose';
import { retryUpsert, storeCall } from '../document/store-error.ts';
import { refreshingCache } from './refreshing-cache.ts';

/** A profile: the claims of its last verified token. */
export interface Profile {
  id: number;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
}

interface ProfileDocument {
  _id: number;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
}

/** The profiles that have made requests. Errors of both operations: store_unavailable. */
export interface ProfileStore {
  /** Stores the claims of a verified token about its profile, if they have changed. */
  remember(caller: Caller): Promise<void>;
  /** Returns the profiles with the given ids. A profile that never made a request has only its id; all else is null. */
  find(ids: readonly number[]): Promise<ReadonlyMap<number, Profile>>;
}

const maxRemembered = 10_000;

/**
 * Opens the profiles on a connection. `find` may miss changes that another process has made within the last minute: it
 * seldom reads, because a list of tickets stays in memory while it waits for names.
 */
export function profileStore(connection: Connection, now: () => number = () => performance.now()): ProfileStore {
  const schema = new Schema<ProfileDocument>(
    { _id: Number, firstName: String, lastName: String, email: String },
    { versionKey: false, collection: 'profiles' },
  );
  const profiles = connection.model<ProfileDocument>('Profile', schema);
  const cache = refreshingCache<Profile>(read, now);
  const lastClaims = new Map<number, string>();

  async function read(ids: readonly number[]): Promise<Profile[]> {
    const documents = await profiles.find({ _id: { $in: ids } }).lean<ProfileDocument[]>();
    const found = new Map(documents.map((document) => [document._id, document]));
    return ids.map((id) => {
      const { firstName = null, lastName = null, email = null } = found.get(id) ?? {};
      return { id, firstName, lastName, email };
    });
  }

  return {
    async remember({ profileId, firstName, lastName, email }) {
      if (profileId === null) return;
      const claims = JSON.stringify([firstName, lastName, email]);
      if (lastClaims.get(profileId) === claims) return;
      if (lastClaims.size >= maxRemembered) lastClaims.clear();
      lastClaims.set(profileId, claims);
      // Cached before it is written, because the response to this very request may contain the profile.
      cache.set({ id: profileId, firstName, lastName, email });
      try {
        await storeCall(() =>
          retryUpsert(() =>
            profiles.updateOne({ _id: profileId }, { $set: { firstName, lastName, email } }, { upsert: true }),
          ),
        );
      } catch (error) {
        lastClaims.delete(profileId);
        throw error;
      }
    },
    find: (ids) => storeCall(() => cache.find(ids)),
  };
}
