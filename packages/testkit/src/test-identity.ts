import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { internalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import { type DevelopmentKeys, developmentKeys } from './development-keys.ts';
import { signClaims, signToken, type TokenClaims } from './sign-token.ts';

/** The keys of one test system, and tokens made with them. */
export interface TestIdentity {
  /** A token of the issuer; what is not given is an ordinary user with id 7. */
  issuerToken(claims?: Partial<TokenClaims>): Promise<string>;
  /** A token of the issuer with exactly these claims, good or bad. */
  issuerTokenOf(claims: object, header?: object): Promise<string>;
  /** A token as the gateway makes it for a service. */
  internalToken(audience: string, caller: Caller, from?: string): Promise<string>;
  keys: DevelopmentKeys;
  remove(): void;
}

/** Makes the keys of a test system in a folder of their own. */
export function testIdentity(): TestIdentity {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-test-'));
  const keys = developmentKeys(folder);
  return {
    issuerToken: (claims = {}) => signToken(keys.issuerKeyFile, { ...ordinaryUser, ...claims }, 3600),
    issuerTokenOf: (claims, header) => signClaims(keys.issuerKeyFile, claims, header),
    internalToken: async (audience, caller, from = 'gateway') => {
      const tokens = await internalTokens(from, keys.signingKeyFile(from));
      return tokens.mint(audience, ...(caller.kind === 'service' ? [] : [caller]));
    },
    keys,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const ordinaryUser: TokenClaims = {
  sub: '7',
  kind: 'user',
  roleId: 2,
  permissions: [],
  teams: [],
  skills: { tagIds: [], excludedTagIds: [], restricted: false },
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.org',
};

/** A caller as a service gets to know it, for internal tokens; an ordinary user with id 7 unless said otherwise. */
export function testCaller(given: Partial<Caller> = {}): Caller {
  return {
    kind: 'user',
    profileId: 7,
    service: null,
    name: null,
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'ada@example.org',
    roleId: 2,
    permissions: [],
    teams: [],
    skills: { tagIds: [], excludedTagIds: [], restricted: false },
    ...given,
  };
}
