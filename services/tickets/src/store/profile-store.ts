import type { Caller } from '@ticketing/service-kit/caller.ts';
import { reachable, upserted } from '@ticketing/store/database.ts';
import { type Connection, Schema } from 'mongoose';

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
const maxCached = 10_000;

/** Opens the profiles on a connection. What was read is used for 5 seconds. */
export function profileStore(connection: Connection, now: () => number = Date.now): ProfileStore {
  const schema = new Schema<ProfileDocument>(
    { _id: Number, firstName: String, lastName: String, email: String },
    { versionKey: false, collection: 'profiles' },
  );
  const profiles = connection.model<ProfileDocument>('Profile', schema);
  const cache = new Map<number, { profile: Profile; readAt: number }>();
  const remembered = new Map<number, string>();

  function keep(profile: Profile): void {
    if (cache.size >= maxCached) cache.clear();
    cache.set(profile.id, { profile, readAt: now() });
  }

  function fresh(id: number): Profile | undefined {
    const known = cache.get(id);
    return known && now() - known.readAt <= trustMs ? known.profile : undefined;
  }

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
      const said = JSON.stringify([firstName, lastName, email]);
      if (remembered.get(profileId) === said) return;
      if (remembered.size >= maxCached) remembered.clear();
      remembered.set(profileId, said);
      // Before it is written: the answer to this very request may name the profile.
      keep({ id: profileId, firstName, lastName, email });
      try {
        await reachable(() =>
          upserted(() =>
            profiles.updateOne({ _id: profileId }, { $set: { firstName, lastName, email } }, { upsert: true }),
          ),
        );
      } catch (error) {
        remembered.delete(profileId);
        throw error;
      }
    },
    find: (ids) =>
      reachable(async () => {
        const known = new Map<number, Profile>();
        const missing: number[] = [];
        for (const id of new Set(ids)) {
          const profile = fresh(id);
          if (profile) known.set(id, profile);
          else missing.push(id);
        }
        for (const profile of missing.length > 0 ? await read(missing) : []) {
          // What a token has said meanwhile is newer than what was read.
          const newer = fresh(profile.id);
          if (!newer) keep(profile);
          known.set(profile.id, newer ?? profile);
        }
        return known;
      }),
  };
}
