import { replyWithProblems } from '@ticketing/rest/routes/problem-reply.ts';
import { rejectOtherMethods } from '@ticketing/rest/routes/rest-api.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { FastifyInstance } from 'fastify';
import type { ServerLimits } from '../config/server-limits.ts';
import type { Health } from '../observability/health.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createHttpServer } from './http-server.ts';
import { limitAnonymous } from './limit-anonymous.ts';
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

/** The inputs of the server of the internal port. */
export interface InternalServerParts {
  health: Health;
  metrics: Metrics;
  log: Logger;
  limits: ServerLimits;
}

/** Creates the server of the internal port: `/metrics` for Prometheus, and the probes. */
export function internalServer({ health, metrics, log, limits }: InternalServerParts): FastifyInstance {
  const app = createHttpServer();
  replyWithProblems(app, {
    findTraceId: ({ headers }) => continueTrace([headers.traceparent].flat()[0]).traceId,
    onServerError: (error, status) => reportServerError(error, status, log),
  });
  limitAnonymous(app, { limit: limits.anonymousCalls, isAnonymous: () => true, findAddress: ({ ip }) => ip });
  registerProbes(app, health);
  const render = sharedRendering(metrics);
  app.get('/metrics', async (_request, reply) => reply.type(metrics.registry.contentType).send(await render()));
  rejectOtherMethods(app, '/metrics', ['GET']);
  return app;
}

/** Renders the metrics once for all requests that wait for them. */
function sharedRendering({ registry }: Metrics): () => Promise<Buffer> {
  let rendering: Promise<Buffer> | undefined;
  return () => {
    rendering ??= registry
      .metrics()
      .then((text) => Buffer.from(text))
      .finally(() => {
        rendering = undefined;
      });
    return rendering;
  };
}
