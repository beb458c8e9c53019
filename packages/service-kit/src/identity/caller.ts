/** The kinds of profiles that a token may name. */
export const profileKinds = ['user', 'vendor', 'vendorPartner', 'serviceWorker', 'codeExecutor', 'system'] as const;

/** The kind of a profile. */
export type ProfileKind = (typeof profileKinds)[number];

/**
 * The sender of a request: a profile, as its verified token describes it, or a service on its own behalf.
 *
 * Source: docs/reference/api.md, Credentials.
 */
export interface Caller {
  /** The kind of the profile, or "service". */
  kind: ProfileKind | 'service';
  /** The id of the profile; null for a service. */
  profileId: number | null;
  /** The name of the service that calls on its own behalf; null for a profile. */
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
  /** When the access token of the profile expires (Unix seconds); null for a service. */
  expiresAt: number | null;
}

/** The skill tags of a caller, for the routing of tickets. */
export interface CallerSkills {
  tagIds: readonly number[];
  excludedTagIds: readonly number[];
  restricted: boolean;
}

/** Whether the caller is a person. Assignment and worklog treat people and machines differently. */
export function isHuman({ kind }: Pick<Caller, 'kind'>): boolean {
  return kind === 'user' || kind === 'vendor' || kind === 'vendorPartner';
}

/** Whether the caller has a right. Admins have every right; a service that calls on its own behalf has none. */
export function hasRight(caller: Caller, right: string): boolean {
  return caller.roleId === 1 || caller.permissions.includes(right);
}

/** Names a caller where something is counted or stored for each. */
export function callerKey({ kind, profileId, service }: Caller): string {
  return `${kind} ${profileId ?? service}`;
}

/** Returns the caller for a service that calls on its own behalf. */
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
    expiresAt: null,
  };
}
