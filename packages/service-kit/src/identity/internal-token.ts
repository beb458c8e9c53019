import { readFileSync } from 'node:fs';
import { secondsNow, systemRuntime } from '@ticketing/runtime/runtime.ts';
import { doesCall, doesForwardCallers } from '@ticketing/system/services.ts';
import { importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { cachedVerifier, callerOfClaims, invalidToken, type VerifyToken } from './access-token.ts';
import { type Caller, serviceCaller } from './caller.ts';
import type { KeySource } from './key-source.ts';

/** The `typ` header of internal tokens, which the tokens of the issuer do not have. */
export const internalTokenType = 'internal+jwt';

const lifetimeSeconds = 60;
/** How far the clock of the minting service may be ahead of the clock of the verifying one. */
const aheadSeconds = 15;
/** How long a token is accepted beyond its lifetime or its expiry. */
const lateSeconds = 5;
/**
 * How long a caller is accepted after its access token has expired: a request that began before the expiry may go on for
 * 30 s, the clocks of two hosts differ by up to 10 s, and the gateway accepts an access token for another 5 s.
 */
const callerGraceSeconds = 45;
/** An internal token repeats the claims of an access token, which may have 8 KB, in a longer form. */
const maxTokenBytes = 12 * 1024;
/** How long a minted token is reused. It stays valid for another 35 seconds: longer than any request lasts. */
const reuseMs = 25_000;

/** Mints the tokens with which one service calls others. */
export interface InternalTokens {
  /** Returns a token for the service `audience`, in the name of the given caller or of the service itself. */
  mint(audience: string, onBehalfOf?: Caller): Promise<string>;
}

/**
 * Mints the tokens of a service with its private key: a JWK file (EdDSA) whose `kid` is the name of the service.
 *
 * Errors: a key file that is missing or belongs to another service.
 *
 * Source: docs/reference/api.md, Service-to-service calls.
 */
export async function internalTokens(service: string, keyFile: string): Promise<InternalTokens> {
  const jwk = JSON.parse(readFileSync(keyFile, 'utf8')) as JWK;
  if (jwk.kid !== service || jwk.kty !== 'OKP') throw new Error(`${keyFile} is not the signing key of ${service}.`);
  const key = await importJWK(jwk, 'EdDSA');
  const self = serviceCaller(service);
  const minted = new WeakMap<Caller, LRUCache<string, string>>();

  return {
    async mint(audience, onBehalfOf = self) {
      const tokens =
        minted.get(onBehalfOf) ?? new LRUCache<string, string>({ max: 16, ttl: reuseMs, ttlResolution: 0 });
      minted.set(onBehalfOf, tokens);
      const cached = tokens.get(audience);
      if (cached) return cached;
      const token = await new SignJWT(onBehalfOf === self ? {} : { caller: onBehalfOf })
        .setProtectedHeader({ alg: 'EdDSA', kid: service, typ: internalTokenType })
        .setIssuer(service)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(`${lifetimeSeconds}s`)
        .sign(key);
      tokens.set(audience, token);
      return token;
    },
  };
}

/**
 * Verifies the internal tokens that other services minted for this one. A token is accepted only if it is signed with
 * the key of the service that it names as its issuer, and was issued at most 60 seconds ago, whatever its expiry. The
 * clocks of two hosts may differ by 10 s. The description of the system says whose tokens these may be, and whose callers
 * count.
 *
 * Errors: invalid_token.
 * Source: docs/reference/api.md, Service-to-service calls.
 */
export function internalTokenVerifier(keys: KeySource, audience: string): VerifyToken {
  return cachedVerifier(async (token) => {
    const { payload, protectedHeader } = await jwtVerify(token, keys.key, {
      algorithms: ['EdDSA'],
      audience,
      typ: internalTokenType,
      requiredClaims: ['exp', 'iss'],
      // This also limits how long a service is trusted whose key has leaked, or that sets a later expiry.
      maxTokenAge: lifetimeSeconds,
      clockTolerance: aheadSeconds,
    });
    // The tolerance above is for the time of issue; it would also accept tokens that are too old.
    const { exp = 0, iat = 0 } = payload;
    if (secondsNow(systemRuntime) - Math.min(exp, iat + lifetimeSeconds) > lateSeconds)
      throw invalidToken('has expired');
    if (protectedHeader.kid === undefined || payload.iss !== protectedHeader.kid)
      throw invalidToken('has another issuer');
    if (!doesCall(payload.iss, audience)) throw invalidToken('is from a service that does not call this one');
    const expiresAt = Math.min(exp, iat + lifetimeSeconds);
    // The previous version names a caller to every service. Where its issuer forwards none, the service itself calls.
    if (payload.caller === undefined || !doesForwardCallers(payload.iss, audience)) {
      return { caller: serviceCaller(payload.iss), expiresAt };
    }
    const { caller, until } = forwardedCaller(payload.caller, expiresAt);
    return { caller, expiresAt: Math.min(expiresAt, until) };
  }, maxTokenBytes);
}

/**
 * Returns the caller that another service has verified, and until when it is accepted. Its claims are checked again. A
 * caller without an expiry is limited by the internal token alone: the other service may run an earlier version, or
 * completes work that the caller began.
 */
function forwardedCaller(value: unknown, tokenExpiresAt: number): { caller: Caller; until: number } {
  if (typeof value !== 'object' || value === null) throw invalidToken('has malformed claims');
  const { profileId, expiresAt = null, ...claims } = value as Record<string, unknown>;
  const callerExpiresAt = expiresAt ?? tokenExpiresAt;
  if (typeof callerExpiresAt !== 'number') throw invalidToken('has malformed claims');
  const until = callerExpiresAt + callerGraceSeconds;
  if (until <= secondsNow(systemRuntime)) throw invalidToken('names a caller whose access token has expired');
  const sub = typeof profileId === 'number' ? String(profileId) : '';
  return { caller: callerOfClaims({ ...claims, sub }, callerExpiresAt), until };
}
