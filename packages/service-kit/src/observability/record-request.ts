import type { Trace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Returns the route that a request has matched, as metrics, logs and spans name it: its method and the pattern of its
 * path.
 */
export function routePattern({ method, routeOptions }: FastifyRequest): string {
  return `${method} ${routeOptions.url ?? 'unmatched'}`;
}

/** Records the span of an HTTP request that was responded to. `route` is as `routePattern` names it. */
export function recordRequest(tracer: Tracer, trace: Trace, route: string, reply: FastifyReply): void {
  const { statusCode, elapsedTime } = reply;
  tracer.record({
    trace,
    name: route,
    kind: 'server',
    durationMs: elapsedTime,
    error: statusCode >= 500 ? String(statusCode) : undefined,
    attributes: {
      'http.request.method': reply.request.method,
      'http.route': route.slice(route.indexOf(' ') + 1),
      'http.response.status_code': statusCode,
    },
  });
}
