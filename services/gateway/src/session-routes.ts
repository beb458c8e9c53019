import { DomainError } from '@ticketing/rest/domain-error.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { admissionOf } from './passage.ts';
import { writeCookie } from './session-cookie.ts';

/** Where a browser gets its cookie. */
export const sessionPath = '/auth/session';

const verbs = ['POST', 'DELETE'] as const;

/**
 * Registers the routes by which a browser keeps its bearer token as a cookie that no script can read, and drops it.
 *
 * Errors: missing_token if the request has only a cookie.
 * Source: decisions.md section 3.
 */
export function registerSessionRoutes(app: FastifyInstance, cookieName: string): void {
  app.post(sessionPath, async (request, reply) => {
    const { source, token, expiresAt } = admissionOf(request);
    if (source !== 'header') throw new DomainError('unauthenticated', 'missing_token', 'This needs a bearer token.');
    const lifetimeSeconds = Math.max(0, Math.floor(expiresAt - Date.now() / 1000));
    return answerSuccess(reply.header('set-cookie', writeCookie(cookieName, token, lifetimeSeconds)));
  });
  app.delete(sessionPath, async (_request, reply) =>
    answerSuccess(reply.header('set-cookie', writeCookie(cookieName))),
  );
  app.route({
    method: ['GET', 'PUT', 'PATCH'],
    url: sessionPath,
    handler: async (_request, reply) => {
      reply.header('allow', verbs.join(', '));
      throw new DomainError('unimplemented', 'method_not_allowed', `This path accepts ${verbs.join(', ')}.`);
    },
  });
}

function answerSuccess(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').send({ success: true });
}
