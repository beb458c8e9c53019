import type { Connection } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';
import { serverTime } from '../connection/server-time.ts';
import type { Query } from '../document/field-query.ts';
import { updateOrInsert } from '../document/update-or-insert.ts';

/** The members of a group, each with the time until which it counts as alive. */
interface GroupDocument {
  _id: string;
  members?: Record<string, Date>;
}

/** The position of a member among the living members of its group: the `index` of `count`. */
export interface MemberPosition {
  index: number;
  count: number;
}

/** Which group is joined, by which member, and how long the member counts as alive without renewing. */
export interface MembershipOptions {
  collection: string;
  group: string;
  member: string;
  durationMs: number;
}

/** The membership of one member in a group. */
export interface GroupMembership {
  /** Records that the member is alive, and returns its position. Members that expired long ago are removed. */
  renew(): Promise<MemberPosition>;
  leave(): Promise<void>;
}

/** Opens a membership; the first renewal joins the group. */
export function openMembership(
  connection: Connection,
  { collection, group, member, durationMs }: MembershipOptions,
): GroupMembership {
  const groups = openCollection<GroupDocument>(connection, collection);
  let expired: string[] = [];
  return {
    async renew() {
      const now = serverTime(connection);
      const change: Query = {
        $set: { [`members.${member}`]: new Date(now + durationMs) },
        ...(expired.length > 0 ? { $unset: Object.fromEntries(expired.map((id) => [`members.${id}`, 1])) } : {}),
      };
      const document = await updateOrInsert(groups, group, change);
      const members = Object.entries(document.members ?? {});
      expired = members.filter(([, aliveUntil]) => aliveUntil.getTime() < now - durationMs).map(([id]) => id);
      const alive = members.filter(([, aliveUntil]) => aliveUntil.getTime() >= now).map(([id]) => id);
      alive.sort();
      return { index: alive.indexOf(member), count: alive.length };
    },
    async leave() {
      await groups.updateOne({ _id: group }, { $unset: { [`members.${member}`]: 1 } });
    },
  };
}
