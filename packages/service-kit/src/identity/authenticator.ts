import { DomainError } from '@ticketing/errors/domain-error.ts';
import { decodeProtectedHeader } from 'jose';
import { invalidToken, type VerifyToken } from './access-token.ts';
import type { Caller } from './caller.ts';
import { internalTokenType } from './internal-token.ts';

/** Who may be believed at a face of a service. */
export interface Authenticator {
  /** At the REST face: internal tokens only. */
  rest(authorization: string | undefined): Promise<Caller>;
  /** At the RPC face: internal tokens, and bearer tokens of the issuer. */
  rpc(authorization: string | undefined): Promise<Caller>;
}

/**
 * Joins the verifiers of a service.
 *
 * Errors: missing_token, invalid_token, issuer_unavailable.
 * Source: decisions.md section 3.
 */
export function authenticator(verify: { internal: VerifyToken; issuer: VerifyToken }): Authenticator {
  return {
    async rest(authorization) {
      return (await verify.internal(bearerToken(authorization))).caller;
    },
    async rpc(authorization) {
      const token = bearerToken(authorization);
      return (await (isInternal(token) ? verify.internal(token) : verify.issuer(token))).caller;
    },
  };
}

/** The token of an `Authorization: Bearer` header. Errors: missing_token. */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new DomainError('unauthenticated', 'missing_token', 'This needs a bearer token.');
  }
  const token = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw invalidToken('is not a bearer token');
  return token;
}

function isInternal(token: string): boolean {
  try {
    return decodeProtectedHeader(token).typ === internalTokenType;
  } catch {
    return false;
  }
}
