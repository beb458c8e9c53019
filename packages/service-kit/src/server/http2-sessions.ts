import type { ServerHttp2Session } from 'node:http2';
import type { FastifyInstance } from 'fastify';
import type { ServerLimits } from './server-limits.ts';

const maxConnectionAgeMs = 300_000;

/**
 * Ends HTTP/2 connections of a server after 5 minutes, give or take 10 %, and when the server closes. Clients then resolve
 * its addresses again, so that a new replica gets its share of the calls. The calls in flight on a connection that is to
 * end have `goAwayMs` to finish.
 */
export function endSessions(app: FastifyInstance, { goAwayMs }: ServerLimits): void {
  const sessions = new Set<ServerHttp2Session>();
  const end = (session: ServerHttp2Session) => {
    session.close();
    setTimeout(() => session.destroy(), goAwayMs).unref();
  };
  app.server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    const timer = setTimeout(() => end(session), maxConnectionAgeMs * (0.9 + Math.random() * 0.2)).unref();
    session.once('close', () => {
      clearTimeout(timer);
      sessions.delete(session);
    });
  });
  app.addHook('preClose', async () => sessions.forEach(end));
}
