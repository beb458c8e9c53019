import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { Metrics } from '@ticketing/service-kit/observability/metrics.ts';
import { recordRequest, routePattern } from '@ticketing/service-kit/observability/record-request.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findRequestContext } from './context.ts';

/** Counts and times all responses, by the route of the contract, and records the spans of those that have one. */
export function measureRequests(app: FastifyInstance, metrics: Metrics, tracer: Tracer | undefined): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { route: known, trace } = findRequestContext(request);
    const route = describeRoute(request);
    const seconds = reply.elapsedTime / 1000;
    metrics.observeRequest({ api: 'proxy', route, status: String(reply.statusCode), seconds });
    if (tracer && known) recordRequest(tracer, trace, route, reply);
    done();
  });
}

/** Returns the name of a request's route in metrics and logs: the route of the contract, or of the gateway itself. */
export function describeRoute(request: FastifyRequest): string {
  return findRequestContext(request).route?.name ?? routePattern(request);
}
