import { DomainError } from '@ticketing/errors/domain-error.ts';
import { decodeProtectedHeader } from 'jose';
import { invalidToken } from './access-token.ts';
import type { Caller } from './caller.ts';
import { internalTokenType, internalTokenVerifier } from './internal-token.ts';
import type { Issuer } from './issuer.ts';
import { fileKeySource } from './key-source.ts';

/** Verifies the `Authorization` header of a request and returns its caller. */
export interface Authenticator {
  /** For the REST API: internal tokens only. */
  rest(authorization: string | undefined): Promise<Caller>;
  /** For the RPC API: internal tokens, and access tokens of the issuer. */
  rpc(authorization: string | undefined): Promise<RpcCaller>;
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
 * Errors: a file of internal keys that is not usable. Of both methods: missing_token, invalid_token, issuer_unavailable.
 * Source: docs/reference/api.md, Credentials; docs/reference/api.md, Service-to-service calls.
 */
export function openAuthenticator(service: string, issuer: Issuer, internalJwksFile: string): Authenticator {
  const verifyInternal = internalTokenVerifier(fileKeySource(internalJwksFile), service);
  return {
    async rest(authorization) {
      return (await verifyInternal(bearerToken(authorization))).caller;
    },
    async rpc(authorization) {
      const token = bearerToken(authorization);
      if (isInternalToken(token)) return { caller: (await verifyInternal(token)).caller, isInternal: true };
      return { caller: (await issuer.verify(token)).caller, isInternal: false };
    },
  };
}

/** The token of an `Authorization: Bearer` header. Errors: missing_token, invalid_token. */
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
