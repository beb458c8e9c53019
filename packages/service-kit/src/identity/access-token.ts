import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type JWTPayload, type JWTVerifyOptions, type JWTVerifyResult, errors as joseErrors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { type Caller, type CallerSkills, profileKinds } from './caller.ts';
import type { KeySource } from './key-source.ts';

/**
 * Verifies a token and returns the caller that it names; at once, without a promise, if the token was verified before.
 *
 * Errors: invalid_token, issuer_unavailable.
 */
export type VerifyToken = (token: string) => VerifiedToken | Promise<VerifiedToken>;

/** The caller of a verified token, and when the token expires (Unix seconds). */
export interface VerifiedToken {
  caller: Caller;
  expiresAt: number;
}

const maxTokenBytes = 8192;
const clockToleranceSeconds = 5;
/** How long the result of a verification is used again: a revoked key stops working within this time. */
const cacheMs = 60_000;
/** How many bytes of tokens are cached. With each, its caller is kept, and the tokens that are minted for that caller. */
const cachedBytes = 8 * 1024 * 1024;

/**
 * Verifies the tokens of the issuer: signature, `iss`, `aud`, `exp`, `nbf`, `iat`, `scope`, and the claims of a profile.
 *
 * Units: `maxTokenLifetimeSeconds` from `iat` to `exp`; 0 for no limit.
 * Errors: invalid_token for every token that is not valid, for any reason.
 * Source: docs/reference/api.md, Credentials.
 */
export function accessTokenVerifier(options: {
  keys: KeySource;
  issuer: string;
  audience: string;
  maxTokenLifetimeSeconds: number;
}): VerifyToken {
  return cachedVerifier(async (token) => {
    const { payload, protectedHeader } = await verifyWithMatchingKeys(token, options.keys, {
      algorithms: [...options.keys.algorithms],
      issuer: options.issuer,
      audience: options.audience,
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ['exp', 'iat', 'sub'],
    });
    const typ = protectedHeader.typ?.toLowerCase();
    if (typ !== undefined && typ !== 'jwt' && typ !== 'at+jwt') throw invalidToken('has another type');
    const expiresAt = payload.exp ?? 0;
    requireTimes(payload.iat, expiresAt, options.maxTokenLifetimeSeconds);
    return { caller: callerOfAccessToken(payload, expiresAt), expiresAt };
  });
}

/** Verifies a token. Where its header names no key, every key that fits its algorithm is tried. */
async function verifyWithMatchingKeys(
  token: string,
  keys: KeySource,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys.key, options);
  } catch (error) {
    if (!(error instanceof joseErrors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options);
      } catch (mismatch) {
        if (!(mismatch instanceof joseErrors.JWSSignatureVerificationFailed)) throw mismatch;
      }
    }
    throw error;
  }
}

/** Caches the results of a verification for a minute, and turns its errors about a token into `invalid_token`. */
export function cachedVerifier(
  verify: (token: string) => Promise<VerifiedToken>,
  maxBytes = maxTokenBytes,
): VerifyToken {
  const verified = new LRUCache<string, VerifiedToken>({
    max: 10_000,
    maxSize: cachedBytes,
    sizeCalculation: (_, token) => token.length,
    ttl: cacheMs,
    // Otherwise each read sets a timer that wakes the process a millisecond later.
    ttlResolution: 0,
  });
  const verifyFresh = async (token: string) => {
    if (token.length > maxBytes) throw invalidToken('is too long');
    try {
      const fresh = await verify(token);
      verified.set(token, fresh);
      return fresh;
    } catch (error) {
      if (error instanceof joseErrors.JOSEError || error instanceof TypeError)
        throw invalidToken('does not verify', error);
      throw error;
    }
  };
  return (token) => {
    const known = verified.get(token);
    return known && known.expiresAt > Date.now() / 1000 ? known : verifyFresh(token);
  };
}

/** Makes the error for a token that is not valid. `problem` completes "The token …"; the cause is only logged. */
export function invalidToken(problem: string, cause?: unknown): DomainError {
  return new DomainError('unauthenticated', 'invalid_token', `The token ${problem}.`, { cause });
}

function requireTimes(issuedAt: number | undefined, expiresAt: number, maxLifetimeSeconds: number): void {
  const now = Date.now() / 1000;
  if (!(typeof issuedAt === 'number' && issuedAt <= now + clockToleranceSeconds)) {
    throw invalidToken('was issued in the future');
  }
  if (maxLifetimeSeconds > 0 && expiresAt - issuedAt > maxLifetimeSeconds) throw invalidToken('is valid for too long');
}

function callerOfAccessToken(payload: JWTPayload, expiresAt: number): Caller {
  const { scope } = payload;
  if (!(typeof scope === 'string' && scope.split(' ').includes('api'))) throw invalidToken('lacks the scope api');
  return callerOfClaims(payload, expiresAt);
}

/** Returns the caller that the claims of a token describe. Units: Unix seconds. Errors: invalid_token. */
export function callerOfClaims(payload: JWTPayload, expiresAt: number): Caller {
  const kind = profileKinds.find((candidate) => candidate === payload.kind);
  if (kind === undefined) throw invalidToken('names no known kind of profile');
  const sub: unknown = payload.sub;
  if (typeof sub !== 'string' || !/^[1-9]\d{0,9}$/.test(sub) || Number(sub) > 0x7fff_ffff) {
    throw invalidToken('names no profile');
  }
  return {
    kind,
    profileId: Number(sub),
    service: null,
    name: readText(payload, 'name'),
    firstName: readText(payload, 'firstName'),
    lastName: readText(payload, 'lastName'),
    email: readText(payload, 'email'),
    roleId: payload.roleId === undefined || payload.roleId === null ? null : readInteger(payload.roleId),
    permissions: readList(payload.permissions, isText),
    teams: readIntegers(payload.teams),
    skills: readSkills(payload.skills),
    expiresAt,
  };
}

function readSkills(claim: unknown): CallerSkills {
  const skills = claim ?? {};
  if (typeof skills !== 'object') throw invalidToken('has malformed claims');
  const { tagIds, excludedTagIds, restricted } = skills as Record<string, unknown>;
  if (restricted !== undefined && typeof restricted !== 'boolean') throw invalidToken('has malformed claims');
  return {
    tagIds: readIntegers(tagIds),
    excludedTagIds: readIntegers(excludedTagIds),
    restricted: restricted === true,
  };
}

function readText(payload: JWTPayload, name: string): string | null {
  const value = payload[name] ?? null;
  if (value !== null && (typeof value !== 'string' || value.length > 320)) throw invalidToken('has malformed claims');
  return value;
}

function readInteger(value: unknown): number {
  if (!isInteger(value)) throw invalidToken('has malformed claims');
  return value;
}

function readIntegers(claim: unknown): number[] {
  return readList(claim, isInteger);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value);
}

function readList<Item>(claim: unknown, fits: (value: unknown) => value is Item): Item[] {
  const list: unknown = claim ?? [];
  if (!Array.isArray(list) || list.length > 1000 || !list.every(fits)) throw invalidToken('has malformed claims');
  return list;
}
