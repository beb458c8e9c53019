import type { Metrics } from '@ticketing/service-kit/observability/metrics.ts';
import type { FastifyInstance } from 'fastify';
import { requestContextOf } from './request-context.ts';

/** Counts and times all responses, by the route of the contract. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const route =
      requestContextOf(request).route?.name ?? `${request.method} ${request.routeOptions.url ?? 'unmatched'}`;
    const seconds = reply.elapsedTime / 1000;
    metrics.observeRequest({ api: 'proxy', route, status: String(reply.statusCode), seconds });
  });
}
