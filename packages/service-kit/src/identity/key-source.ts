import { readFileSync } from 'node:fs';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';

/** Keys that verify tokens, and the algorithms for which they may be used. */
export interface KeySource {
  algorithms: readonly string[];
  key: JWTVerifyGetKey;
  /** Resolves if there are keys. Errors: issuer_unavailable. */
  check(): Promise<void>;
  close(): void;
}

// Each type of key fits one of these, so that a token cannot choose a weaker algorithm for a key.
const asymmetric = ['EdDSA', 'Ed25519', 'ES256', 'RS256'];

/** Returns a configured secret of at least 32 bytes, for HS256 only. Errors: a shorter secret. */
export function secretKeySource(secret: string): KeySource {
  const key = new TextEncoder().encode(secret);
  if (key.length < 32) throw new Error('The secret is shorter than 32 bytes.');
  return { algorithms: ['HS256'], key: async () => key, check: async () => undefined, close: () => undefined };
}

/** Returns the public keys of a JWKS file. Errors: a file that is not a key set, has no key, or has a private one. */
export function fileKeySource(path: string): KeySource {
  const keys = createLocalJWKSet(requirePublicKeys(JSON.parse(readFileSync(path, 'utf8'))));
  return { algorithms: asymmetric, key: keys, check: async () => undefined, close: () => undefined };
}

const refreshMs = 300_000;
const cooldownMs = 30_000;
const fetchTimeoutMs = 5_000;

/**
 * Returns the public keys of a JWKS URL, fetched again every 5 minutes and, at most every 30 seconds, for an unknown key id.
 * While the issuer does not respond, the last keys stay valid.
 *
 * Errors: issuer_unavailable while no keys have ever been fetched.
 */
export function urlKeySource(url: string, logger: Logger, now: () => number = () => performance.now()): KeySource {
  let keys: ReturnType<typeof createLocalJWKSet> | undefined;
  let lastTryAt = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | undefined;

  const load = async () => {
    lastTryAt = now();
    try {
      keys = createLocalJWKSet(await fetchKeys(url));
    } catch (error) {
      logger.warn({ err: error, url }, 'the keys of the issuer could not be fetched');
    }
  };
  const refresh = () => {
    refreshing ??= load().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  };
  const fetchedKeys = async () => {
    if (!keys && (refreshing || now() - lastTryAt >= 1000)) await refresh();
    if (!keys) {
      throw new DomainError('unavailable', 'issuer_unavailable', 'The keys of the issuer are not available.', {
        retryAfterSeconds: 1,
      });
    }
    return keys;
  };

  void refresh();
  const timer = setInterval(() => void refresh(), refreshMs).unref();
  return {
    algorithms: asymmetric,
    async key(header, token) {
      try {
        return await (await fetchedKeys())(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        if (!refreshing && now() - lastTryAt < cooldownMs) throw error;
        await refresh();
        return await (await fetchedKeys())(header, token);
      }
    },
    async check() {
      await fetchedKeys();
    },
    close: () => clearInterval(timer),
  };
}

async function fetchKeys(url: string): Promise<JSONWebKeySet> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(fetchTimeoutMs) });
  if (!response.ok) throw new Error(`The issuer responded with ${response.status}.`);
  return requirePublicKeys(await response.json());
}

function requirePublicKeys(json: unknown): JSONWebKeySet {
  const keys = (json as Partial<JSONWebKeySet> | null)?.keys;
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('This is not a key set, or it has no keys.');
  const secret = keys.find((key) => key.kty === 'oct' || 'd' in key);
  if (secret) throw new Error('A key set for verification must hold public keys only.');
  return { keys };
}
