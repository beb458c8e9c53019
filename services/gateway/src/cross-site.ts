import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { ContractRoute } from './route-table.ts';

/** What is looked at of a request that a browser authorises by a cookie. */
export interface CookieRequest {
  verb: string;
  url: string;
  headers: IncomingHttpHeaders;
  route: ContractRoute | undefined;
}

/**
 * Refuses a cookie request that another site could have made a browser send, where that matters: writes, reads with
 * `refresh`, and routes whose contract says so.
 *
 * Errors: cross_site_request.
 * Source: decisions.md section 3.
 */
export function requireSameOrigin(request: CookieRequest, publicOrigin: string | undefined): void {
  if (!needsSameOrigin(request) || isSameOrigin(request, publicOrigin)) return;
  throw new DomainError(
    'permission_denied',
    'cross_site_request',
    'With a cookie, this request must come from a page of the same origin.',
  );
}

function needsSameOrigin({ verb, url, route }: CookieRequest): boolean {
  if (verb === 'OPTIONS') return false;
  if (verb !== 'GET' && verb !== 'HEAD') return true;
  return route?.isSameOriginOnly === true || asksForRefresh(url);
}

// Wider than the service's own reading of the query (`refresh=true`), which knows other spellings of a nested name.
function asksForRefresh(url: string): boolean {
  const queryStart = url.indexOf('?');
  if (queryStart < 0) return false;
  const parameters = [...new URLSearchParams(url.slice(queryStart + 1))];
  return parameters.some(([name, value]) => name.includes('refresh') && value !== 'false');
}

function isSameOrigin({ headers }: CookieRequest, publicOrigin: string | undefined): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  if (origin === undefined) return false;
  if (publicOrigin !== undefined) return origin === publicOrigin;
  // Who terminated TLS is not known here, so either scheme of the host will do.
  return host !== undefined && (origin === `https://${host}` || origin === `http://${host}`);
}
