import type { IncomingHttpHeaders } from 'node:http';
import { bearerToken } from '@ticketing/service-kit/identity/authenticator.ts';
import { readCookie } from './session-cookie.ts';

/** The token of a request, and how it came. */
export interface Credential {
  token: string;
  source: 'header' | 'cookie';
}

/**
 * Finds the token of a request. An `Authorization` header alone decides, whatever it holds.
 *
 * Errors: missing_token, invalid_token.
 * Source: decisions.md section 3.
 */
export function credentialOf(headers: IncomingHttpHeaders, cookieName: string): Credential {
  const { authorization, cookie } = headers;
  const token = authorization === undefined && cookie !== undefined ? readCookie(cookie, cookieName) : undefined;
  if (token !== undefined) return { token, source: 'cookie' };
  return { token: bearerToken(authorization), source: 'header' };
}
