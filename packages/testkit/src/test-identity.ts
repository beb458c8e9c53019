import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { internalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import { developmentIssuer, developmentKeys } from './development-keys.ts';
import { signClaims, signToken, type TokenClaims } from './sign-token.ts';

/** The keys of one test system, and tokens made with them. */
export interface TestIdentity {
  /** A token of the issuer; what is not given is an ordinary user with id 7. */
  issuerToken(claims?: Partial<TokenClaims>): Promise<string>;
  /** A token of the issuer with exactly these claims, good or bad. */
  issuerTokenOf(claims: object, header?: object): Promise<string>;
  /** A token as the gateway makes it for a service. */
  internalToken(audience: string, caller: Caller, from?: string): Promise<string>;
  /** The variables with which a service of this system is configured, but for its store. */
  environment(service: string): Record<string, string>;
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
    environment(service) {
      const variables = {
        HOST: '127.0.0.1',
        HTTP_PORT: '0',
        INTERNAL_PORT: '0',
        LOG_LEVEL: process.env.TICKETING_TEST_LOG_LEVEL ?? 'silent',
        DRAIN_MS: '0',
        ISSUER: developmentIssuer.issuer,
        AUDIENCE: developmentIssuer.audience,
        JWKS_FILE: keys.issuerJwksFile,
        SIGNING_KEY_FILE: keys.signingKeyFile(service),
      };
      const prefix = `TICKETING_${service.toUpperCase()}_`;
      const shared = Object.entries(variables).map(([name, value]) => [prefix + name, value]);
      const internal = service === 'gateway' ? [] : [[`${prefix}INTERNAL_JWKS_FILE`, keys.internalJwksFile]];
      return Object.fromEntries([...shared, ...internal]);
    },
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
