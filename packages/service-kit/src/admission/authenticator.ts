import { DomainError } from '@ticketing/errors/domain-error.ts';
import { decodeProtectedHeader } from 'jose';
import { invalidToken } from '../identity/access-token.ts';
import type { Caller } from '../identity/caller.ts';
import { internalTokenType, internalTokenVerifier } from '../identity/internal-token.ts';
import type { Issuer } from '../identity/issuer.ts';
import { fileKeySource } from '../identity/key-source.ts';
import type { FailedTokens } from './failed-tokens.ts';

/** Verifies the `Authorization` header of a request and returns its caller. */
export interface Authenticator {
  /** For the REST API: internal tokens only. */
  rest(request: AuthenticatedRequest): Promise<Caller>;
  /** For the RPC API: internal tokens, and access tokens of the issuer. */
  rpc(request: AuthenticatedRequest): Promise<RpcCaller>;
}

/** The parts of a request that an authenticator reads: its token, and the address that has sent it. */
export interface AuthenticatedRequest {
  headers: { authorization?: string | undefined };
  ip: string | undefined;
}

/** The caller of an RPC, and whether another service has vouched for it by an internal token. */
export interface RpcCaller {
  caller: Caller;
  isInternal: boolean;
}

/**
 * Opens the authenticator of a service, which accepts access tokens of the issuer and internal tokens minted for the
 * service.
 *
 * Errors: a file of internal keys that is not usable. Of both methods: missing_token, invalid_token, issuer_unavailable,
 * rate_limited.
 * Source: docs/reference/api.md, Credentials; docs/reference/api.md, Service-to-service calls.
 */
export function openAuthenticator(
  service: string,
  options: { issuer: Issuer; internalJwksFile: string; failed: FailedTokens },
): Authenticator {
  const { issuer, failed } = options;
  const verifyInternal = internalTokenVerifier(fileKeySource(options.internalJwksFile), service);
  return {
    async rest({ headers, ip }) {
      const token = bearerToken(headers.authorization);
      return (await failed.guard(ip, () => verifyInternal(token))).caller;
    },
    async rpc({ headers, ip }) {
      const token = bearerToken(headers.authorization);
      const isInternal = isInternalToken(token);
      const { caller } = await failed.guard(ip, () => (isInternal ? verifyInternal(token) : issuer.verify(token)));
      return { caller, isInternal };
    },
  };
}

/** Returns the token of an `Authorization: Bearer` header. Errors: missing_token, invalid_token. */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new DomainError('unauthenticated', 'missing_token', 'This needs a bearer token.');
  }
  const token = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw invalidToken('is not a bearer token');
  return token;
}

function isInternalToken(token: string): boolean {
  try {
    return decodeProtectedHeader(token).typ === internalTokenType;
  } catch {
    return false;
  }
}
