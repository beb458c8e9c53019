import type { Caller } from '@ticketing/service-kit/caller.ts';
import { type Connection, Schema } from 'mongoose';
import { reachable, upserted } from './database.ts';

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

  return {
    async remember({ profileId, firstName, lastName, email }) {
      if (profileId === null) return;
      const said = JSON.stringify([firstName, lastName, email]);
      if (remembered.get(profileId) === said) return;
      if (remembered.size >= maxCached) remembered.clear();
      remembered.set(profileId, said);
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
      keep({ id: profileId, firstName, lastName, email });
    },
    find: (ids) =>
      reachable(async () => {
        const missing = [...new Set(ids)].filter((id) => now() - (cache.get(id)?.readAt ?? 0) > trustMs);
        if (missing.length > 0) {
          const found = new Map(
            (await profiles.find({ _id: { $in: missing } }).lean<ProfileDocument[]>()).map((document) => [
              document._id,
              document,
            ]),
          );
          for (const id of missing) {
            const { firstName = null, lastName = null, email = null } = found.get(id) ?? {};
            keep({ id, firstName, lastName, email });
          }
        }
        return new Map(
          ids.map((id) => [id, cache.get(id)?.profile ?? { id, firstName: null, lastName: null, email: null }]),
        );
      }),
  };
}
