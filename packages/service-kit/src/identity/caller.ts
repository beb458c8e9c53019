/** The kinds of profiles that a token may name. */
export const profileKinds = ['user', 'vendor', 'vendorPartner', 'serviceWorker', 'codeExecutor', 'system'] as const;

/** The kind of a profile. */
export type ProfileKind = (typeof profileKinds)[number];

/**
 * Who makes a request: a profile, as its verified token describes it, or a service by itself.
 *
 * Source: decisions.md section 3.
 */
export interface Caller {
  /** The kind of the profile, or "service". */
  kind: ProfileKind | 'service';
  /** The profile; null for a service. */
  profileId: number | null;
  /** The name of the service that calls by itself; null for a profile. */
  service: string | null;
  name: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  /** 1 is the admin, who has all rights. */
  roleId: number | null;
  permissions: readonly string[];
  teams: readonly number[];
  skills: CallerSkills;
}

/** The skill tags of a caller, for the routing of tickets. */
export interface CallerSkills {
  tagIds: readonly number[];
  excludedTagIds: readonly number[];
  restricted: boolean;
}

/** Whether the caller is a person, as far as assignment and worklog go. */
export function isHuman(caller: Caller): boolean {
  return caller.kind === 'user' || caller.kind === 'vendor' || caller.kind === 'vendorPartner';
}

/** Whether the caller has a right. Admins have all; a service that calls by itself has none. */
export function hasRight(caller: Caller, right: string): boolean {
  return caller.roleId === 1 || caller.permissions.includes(right);
}

/** A service that calls by itself. */
export function serviceCaller(service: string): Caller {
  return {
    kind: 'service',
    profileId: null,
    service,
    name: service,
    firstName: null,
    lastName: null,
    email: null,
    roleId: null,
    permissions: [],
    teams: [],
    skills: { tagIds: [], excludedTagIds: [], restricted: false },
  };
}
