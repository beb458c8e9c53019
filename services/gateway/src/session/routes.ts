import { DomainError } from '@ticketing/errors/domain-error.ts';
import { rejectOtherMethods } from '@ticketing/rest/routes/rest-api.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { addressKey } from '@ticketing/service-kit/admission/address-key.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ClientAddress } from '../request/client-address.ts';
import { findRequestContext, requireAdmission } from '../request/context.ts';
import { describeRoute } from '../request/metrics.ts';
import { writeCookie } from './cookie.ts';

/** The path of the session endpoints. */
export const sessionPath = '/auth/session';

/** The largest cookie that browsers store; they drop a longer one without an error. */
const maxCookieBytes = 4096;

/** Options of `registerSessionRoutes`. */
export interface SessionOptions {
  cookieName: string;
  log: Logger;
  addressOf: ClientAddress;
  now: () => number;
}

/**
 * Registers the routes that store the bearer token of a browser in a cookie that scripts cannot read, and that clear it.
 * Both are logged with the caller, but without the token.
 *
 * Units: `now` in Unix milliseconds.
 * Errors: missing_token if the request has no bearer token but only a cookie; token_too_long.
 * Source: docs/reference/api.md, Cookies.
 */
export function registerSessionRoutes(app: FastifyInstance, options: SessionOptions): void {
  const { cookieName, now } = options;
  app.post(sessionPath, async (request, reply) => {
    const { source, token, expiresAt } = requireAdmission(request);
    if (source !== 'header')
      throw new DomainError('unauthenticated', 'missing_token', 'This request needs a bearer token.');
    const lifetimeSeconds = Math.max(0, Math.floor(expiresAt - now() / 1000));
    const cookie = writeCookie(cookieName, token, lifetimeSeconds);
    if (cookie.length > maxCookieBytes) {
      throw new DomainError('invalid_argument', 'token_too_long', 'The token is too long for a cookie.');
    }
    logSession(request, 'a session began', options);
    return sendSuccess(reply.header('set-cookie', cookie));
  });
  app.delete(sessionPath, async (request, reply) => {
    // Only a cookie has a session; if it no longer verifies, its session has ended before.
    if (findRequestContext(request).admission?.source === 'cookie') logSession(request, 'a session ended', options);
    return sendSuccess(reply.header('set-cookie', writeCookie(cookieName)));
  });
  rejectOtherMethods(app, sessionPath, ['POST', 'DELETE']);
}

function logSession(request: FastifyRequest, message: string, { log, addressOf }: SessionOptions): void {
  const { traceId } = findRequestContext(request).trace;
  const address = addressKey(addressOf(request));
  const caller = callerKey(requireAdmission(request).caller);
  log.info({ route: describeRoute(request), address, caller, traceId }, message);
}

function sendSuccess(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').send({ success: true });
}
