import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { ContractRoute } from '../request/route-table.ts';

/** The parts of a request with a session cookie that decide whether its origin is checked. */
export interface CookieRequest {
  verb: string;
  url: string;
  headers: IncomingHttpHeaders;
  route: ContractRoute | undefined;
}

/**
 * Refuses a cookie request from another origin, to prevent cross-site request forgery. It checks writes, reads with
 * `refresh`, and routes whose contract requires the check.
 *
 * Errors: cross_site_request.
 * Source: docs/reference/api.md, Cookies.
 */
export function requireSameOrigin(request: CookieRequest, publicOrigin: string | undefined): void {
  if (!needsSameOrigin(request) || isSameOrigin(request, publicOrigin)) return;
  throw new DomainError(
    'permission_denied',
    'cross_site_request',
    'A request with a session cookie must come from a page of the same origin.',
  );
}

function needsSameOrigin({ verb, url, route }: CookieRequest): boolean {
  if (verb === 'OPTIONS') return false;
  if (verb !== 'GET' && verb !== 'HEAD') return true;
  return route?.isSameOriginOnly === true || requestsRefresh(url);
}

// Matches more than the services accept as `refresh=true`, because they also parse nested names such as `refresh[]`.
function requestsRefresh(url: string): boolean {
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
  // A reverse proxy may have terminated TLS, so both schemes are accepted.
  return host !== undefined && (origin === `https://${host}` || origin === `http://${host}`);
}
