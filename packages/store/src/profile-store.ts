import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { type Connection, Schema } from 'mongoose';
import { retryUpsert, storeCall } from './store-error.ts';

/** What is known of a profile: what its last verified token said. */
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

/** The profiles that have called. */
export interface ProfileStore {
  /** Keeps what a verified token says of its profile, if it says something new. */
  remember(caller: Caller): Promise<void>;
  /** The profiles of the given ids; one that never called has all null but its id. */
  find(ids: readonly number[]): Promise<ReadonlyMap<number, Profile>>;
}

const trustMs = 5_000;
const longestTrustMs = 60_000;
const maxCached = 10_000;

/**
 * Opens the profiles on a connection. What was read is used for 5 seconds, and after that, for a minute at most, until it
 * has been read anew: a list of tickets that waits for names is a list that is held in memory.
 */
export function profileStore(connection: Connection, now: () => number = Date.now): ProfileStore {
  const schema = new Schema<ProfileDocument>(
    { _id: Number, firstName: String, lastName: String, email: String },
    { versionKey: false, collection: 'profiles' },
  );
  const profiles = connection.model<ProfileDocument>('Profile', schema);
  const cache = new Map<number, { profile: Profile; readAt: number }>();
  const remembered = new Map<number, string>();

  function keep(profile: Profile, readAt = now()): void {
    if (cache.size >= maxCached) cache.clear();
    cache.set(profile.id, { profile, readAt });
  }

  function kept(id: number, forMs: number): Profile | undefined {
    const known = cache.get(id);
    return known && now() - known.readAt <= forMs ? known.profile : undefined;
  }

  async function read(ids: readonly number[]): Promise<Profile[]> {
    const documents = await profiles.find({ _id: { $in: ids } }).lean<ProfileDocument[]>();
    const found = new Map(documents.map((document) => [document._id, document]));
    return ids.map((id) => {
      const { firstName = null, lastName = null, email = null } = found.get(id) ?? {};
      return { id, firstName, lastName, email };
    });
  }

  /** Reads profiles and keeps them, unless a token has said something newer meanwhile. */
  async function renew(ids: readonly number[]): Promise<Profile[]> {
    const startedAt = now();
    const found = await read(ids);
    return found.map((profile) => {
      const known = cache.get(profile.id);
      if (known && known.readAt > startedAt) return known.profile;
      keep(profile, startedAt);
      return profile;
    });
  }

  let isRenewing = false;
  /** What can not be read now is tried again by the next request that asks for it. */
  function renewSoon(ids: readonly number[]): void {
    if (ids.length === 0 || isRenewing) return;
    isRenewing = true;
    renew(ids)
      .catch(() => undefined)
      .finally(() => {
        isRenewing = false;
      });
  }

  return {
    async remember({ profileId, firstName, lastName, email }) {
      if (profileId === null) return;
      const said = JSON.stringify([firstName, lastName, email]);
      if (remembered.get(profileId) === said) return;
      if (remembered.size >= maxCached) remembered.clear();
      remembered.set(profileId, said);
      // Before it is written: the answer to this very request may name the profile.
      keep({ id: profileId, firstName, lastName, email });
      try {
        await storeCall(() =>
          retryUpsert(() =>
            profiles.updateOne({ _id: profileId }, { $set: { firstName, lastName, email } }, { upsert: true }),
          ),
        );
      } catch (error) {
        remembered.delete(profileId);
        throw error;
      }
    },
    find: (ids) =>
      storeCall(async () => {
        const known = new Map<number, Profile>();
        const old: number[] = [];
        const missing: number[] = [];
        for (const id of new Set(ids)) {
          const profile = kept(id, longestTrustMs);
          if (!profile) missing.push(id);
          else known.set(id, profile);
          if (profile && !kept(id, trustMs)) old.push(id);
        }
        renewSoon(old);
        for (const profile of missing.length > 0 ? await renew(missing) : []) known.set(profile.id, profile);
        return known;
      }),
  };
}
