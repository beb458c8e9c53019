import { type ProblemContext, replyWithProblems } from '@ticketing/rest/problem-reply.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { ServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import type { VerifyToken } from '@ticketing/service-kit/identity/access-token.ts';
import type { InternalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import type { Health } from '@ticketing/service-kit/lifecycle/health.ts';
import type { Metrics } from '@ticketing/service-kit/observability/metrics.ts';
import { createHttpServer } from '@ticketing/service-kit/server/http-server.ts';
import { registerProbes } from '@ticketing/service-kit/server/probes.ts';
import type { ServiceTls } from '@ticketing/service-kit/tls/service-tls.ts';
import type { FastifyInstance } from 'fastify';
import { admissionHook } from './admission-hook.ts';
import type { ApiDescription } from './api-description.ts';
import { bodiesOfCallers } from './body-limit.ts';
import type { GatewayConfig } from './config.ts';
import { registerProxy } from './proxy.ts';
import { isPublic, registerPublicPages } from './public-pages.ts';
import { requestContextOf } from './request-context.ts';
import { measureRequests } from './request-metrics.ts';
import { requestPath } from './request-path.ts';
import { routeTable } from './route-table.ts';
import { registerSessionRoutes } from './session-routes.ts';
import type { UpstreamAgent } from './upstream-agent.ts';
import { upstreams } from './upstreams.ts';

/** The parts that the public server of the gateway is made of. */
export interface PublicServerParts {
  config: GatewayConfig & Pick<ServiceConfig, 'rateLimits' | 'failedTokensPerMinute'>;
  log: Logger;
  metrics: Metrics;
  health: Health;
  tls: ServiceTls;
  agent: UpstreamAgent;
  description: ApiDescription;
  tokens: InternalTokens;
  verify: VerifyToken;
  now: () => number;
  /** Aborts when the server begins to close. */
  closing: AbortSignal;
}

/**
 * Builds the server that clients reach. Every request except those of public pages must be admitted first, even one whose
 * path does not exist.
 */
export async function openPublicServer(parts: PublicServerParts): Promise<FastifyInstance> {
  const { config } = parts;
  const server = createHttpServer({ tls: parts.tls.listener });
  const problems = problemContext(parts.log);
  const routes = routeTable(upstreams.flatMap(({ contracts }) => contracts));
  const holdBody = bodiesOfCallers();
  const admit = admissionHook({ ...config, verify: parts.verify, now: parts.now });
  replyWithProblems(server, problems);
  discardBodies(server);
  measureRequests(server, parts.metrics);
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    if (isPublic(request)) return;
    const route = routes.find(request.method, requestPath(request.url));
    if (route) requestContextOf(request).route = route;
    await admit(request, reply);
  });
  registerProbes(server, parts.health);
  registerSessionRoutes(server, config.sessionCookie, parts.now);
  await server.register((scope) => registerPublicPages(scope, parts.description));
  for (const { name, contracts } of upstreams) {
    const url = config.upstreamUrls.get(name) ?? '';
    await server.register((scope) =>
      registerProxy(scope, {
        ...parts,
        ...problems,
        name,
        url,
        prefixes: routeTable(contracts).prefixes,
        holdBody,
        deadlineMs: config.deadlineMs,
      }),
    );
  }
  return server;
}

function problemContext(log: Logger): ProblemContext {
  return {
    traceIdOf: (request) => requestContextOf(request).trace.traceId,
    onServerError: (error, status, request) => {
      // The proxy logs failed calls to services, whose statuses are 502 to 504.
      if (status !== 500) return;
      log.error({ err: error.cause ?? error, traceId: requestContextOf(request).trace.traceId }, 'internal error');
    },
  };
}

/** Routes of the gateway itself read no body; Node discards a body that is not read. */
function discardBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _body, done) => done(null));
}
