import { DomainError } from '@ticketing/errors/domain-error.ts';
import { rejectOtherMethods } from '@ticketing/rest/rest-api.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { admissionOf } from './request-context.ts';
import { writeCookie } from './session-cookie.ts';

/** The path of the session endpoints. */
export const sessionPath = '/auth/session';

/** The largest cookie that browsers store; they drop a longer one without an error. */
const maxCookieBytes = 4096;

/**
 * Registers the routes that store the bearer token of a browser in a cookie that scripts cannot read, and that clear it.
 *
 * Units: `now` in Unix milliseconds.
 * Errors: missing_token if the request has no bearer token but only a cookie; token_too_long.
 * Source: docs/reference/api.md, Cookies.
 */
export function registerSessionRoutes(app: FastifyInstance, cookieName: string, now: () => number): void {
  app.post(sessionPath, async (request, reply) => {
    const { source, token, expiresAt } = admissionOf(request);
    if (source !== 'header')
      throw new DomainError('unauthenticated', 'missing_token', 'This request needs a bearer token.');
    const lifetimeSeconds = Math.max(0, Math.floor(expiresAt - now() / 1000));
    const cookie = writeCookie(cookieName, token, lifetimeSeconds);
    if (cookie.length > maxCookieBytes) {
      throw new DomainError('invalid_argument', 'token_too_long', 'The token is too long for a cookie.');
    }
    return sendSuccess(reply.header('set-cookie', cookie));
  });
  app.delete(sessionPath, async (_request, reply) => sendSuccess(reply.header('set-cookie', writeCookie(cookieName))));
  rejectOtherMethods(app, sessionPath, ['POST', 'DELETE']);
}

function sendSuccess(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').send({ success: true });
}
