import { replyWithProblems } from '@ticketing/rest/problem-reply.ts';
import { rejectOtherMethods } from '@ticketing/rest/rest-api.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { FastifyInstance } from 'fastify';
import type { Health } from '../lifecycle/health.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createHttpServer } from './http-server.ts';
import { reportServerError } from './report-server-error.ts';

/**
 * Registers `/healthz`, which responds with 200 as long as the process does, and `/readyz`, which does so as long as all
 * dependencies respond and the process is not stopping.
 */
export function registerProbes(app: FastifyInstance, health: Health): void {
  app.get('/healthz', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const report = await health.report();
    return reply
      .code(report.status === 'ready' ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(report);
  });
  for (const path of ['/healthz', '/readyz']) rejectOtherMethods(app, path, ['GET']);
}

/** Creates the server of the internal port: `/metrics` for Prometheus, and the probes. */
export function internalServer(health: Health, metrics: Metrics, log: Logger): FastifyInstance {
  const app = createHttpServer();
  replyWithProblems(app, {
    traceIdOf: ({ headers }) => continueTrace([headers.traceparent].flat()[0]).traceId,
    onServerError: (error, status) => reportServerError(error, status, log),
  });
  registerProbes(app, health);
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  rejectOtherMethods(app, '/metrics', ['GET']);
  return app;
}
