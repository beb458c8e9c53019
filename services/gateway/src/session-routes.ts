import { DomainError } from '@ticketing/errors/domain-error.ts';
import { rejectOtherMethods } from '@ticketing/rest/rest-api.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { admissionOf } from './request-context.ts';
import { writeCookie } from './session-cookie.ts';

/** Where a browser gets its cookie. */
export const sessionPath = '/auth/session';

/** What browsers keep; they drop a longer cookie without a word. */
const maxCookieBytes = 4096;

/**
 * Registers the routes by which a browser keeps its bearer token as a cookie that no script can read, and drops it.
 *
 * Errors: missing_token if the request has only a cookie; token_too_long.
 * Source: decisions.md section 3.
 */
export function registerSessionRoutes(app: FastifyInstance, cookieName: string): void {
  app.post(sessionPath, async (request, reply) => {
    const { source, token, expiresAt } = admissionOf(request);
    if (source !== 'header') throw new DomainError('unauthenticated', 'missing_token', 'This needs a bearer token.');
    const lifetimeSeconds = Math.max(0, Math.floor(expiresAt - Date.now() / 1000));
    const cookie = writeCookie(cookieName, token, lifetimeSeconds);
    if (cookie.length > maxCookieBytes) {
      throw new DomainError('invalid_argument', 'token_too_long', 'The token is too long for a cookie.');
    }
    return answerSuccess(reply.header('set-cookie', cookie));
  });
  app.delete(sessionPath, async (_request, reply) =>
    answerSuccess(reply.header('set-cookie', writeCookie(cookieName))),
  );
  rejectOtherMethods(app, sessionPath, ['POST', 'DELETE']);
}

function answerSuccess(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').send({ success: true });
}
