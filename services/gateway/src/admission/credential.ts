import type { IncomingHttpHeaders } from 'node:http';
import { bearerToken } from '@ticketing/service-kit/admission/authenticator.ts';
import type { Credential } from '../request/context.ts';
import { readCookie } from '../session/cookie.ts';

/**
 * Finds the token of a request. If there is an `Authorization` header, the cookie is ignored, even if the header is
 * malformed.
 *
 * Errors: missing_token, invalid_token.
 * Source: docs/reference/api.md, Credentials; docs/reference/api.md, Cookies.
 */
export function readCredential(headers: IncomingHttpHeaders, cookieName: string): Credential {
  const { authorization, cookie } = headers;
  const token = authorization === undefined && cookie !== undefined ? readCookie(cookie, cookieName) : undefined;
  if (token !== undefined) return { token, source: 'cookie' };
  return { token: bearerToken(authorization), source: 'header' };
}
