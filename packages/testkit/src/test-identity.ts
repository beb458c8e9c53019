import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { internalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import { type DevelopmentKeys, developmentKeys } from './development-keys.ts';
import { signClaims, signToken, type TokenClaims } from './sign-token.ts';

/** The keys of one test system, and tokens made with them. */
export interface TestIdentity {
  /** A token of the issuer. Claims that are not given are those of an ordinary user with id 7. */
  issuerToken(claims?: Partial<TokenClaims>): Promise<string>;
  /** A token that the issuer has signed, with exactly these claims, valid or not. */
  signIssuerToken(claims: object, header?: object): Promise<string>;
  /** An internal token for a service, which the gateway or the service `from` has minted. */
  internalToken(audience: string, caller: Caller, from?: string): Promise<string>;
  keys: DevelopmentKeys;
  remove(): void;
}

/** Creates the keys of a test system in a new folder, which `remove` deletes. */
export function testIdentity(): TestIdentity {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-test-'));
  const keys = developmentKeys(folder);
  return {
    issuerToken: (claims = {}) => signToken(keys.issuerKeyFile, { ...ordinaryUser, ...claims }, 3600),
    signIssuerToken: (claims, header) => signClaims(keys.issuerKeyFile, claims, header),
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

/** A verified caller, by default an ordinary user with id 7. */
export function testCaller(changes: Partial<Caller> = {}): Caller {
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
    expiresAt: Math.floor(Date.now() / 1000) + 3600,
    ...changes,
  };
}
