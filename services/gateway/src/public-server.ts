import { type ProblemContext, replyWithProblems } from '@ticketing/rest/routes/problem-reply.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { ServerLimits } from '@ticketing/service-kit/config/server-limits.ts';
import type { ServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import type { VerifyToken } from '@ticketing/service-kit/identity/access-token.ts';
import type { InternalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import type { Health } from '@ticketing/service-kit/observability/health.ts';
import type { Metrics } from '@ticketing/service-kit/observability/metrics.ts';
import { type LogRefusal, refusalLog } from '@ticketing/service-kit/observability/refusal-log.ts';
import { createHttpServer } from '@ticketing/service-kit/server/http-server.ts';
import { limitAnonymous } from '@ticketing/service-kit/server/limit-anonymous.ts';
import { registerProbes } from '@ticketing/service-kit/server/probes.ts';
import type { ServiceTls } from '@ticketing/service-kit/tls/service-tls.ts';
import type { FastifyInstance } from 'fastify';
import { bodiesOfCallers } from './admission/body-limit.ts';
import { admissionCheck } from './admission/check.ts';
import { browserHeaders } from './browser-headers.ts';
import type { GatewayConfig } from './config.ts';
import type { ApiDescription } from './page/api-description.ts';
import { isPublic, registerPublicPages } from './page/routes.ts';
import { apiTitle } from './page/session-openapi.ts';
import { registerProxy } from './proxy/routes.ts';
import type { UpstreamAgent } from './proxy/upstream-agent.ts';
import { type ClientAddress, clientAddress } from './request/client-address.ts';
import { findRequestContext } from './request/context.ts';
import { describeRoute, measureRequests } from './request/metrics.ts';
import { requestPath } from './request/path.ts';
import { routeTable } from './request/route-table.ts';
import { upstreams } from './request/upstreams.ts';
import { registerSessionRoutes } from './session/routes.ts';

/** The parts that the public server of the gateway is made of. */
export interface PublicServerParts {
  config: GatewayConfig & Pick<ServiceConfig, 'rateLimits' | 'failedTokensPerMinute'>;
  log: Logger;
  metrics: Metrics;
  tracer: Tracer | undefined;
  health: Health;
  tls: ServiceTls;
  limits: ServerLimits;
  agent: UpstreamAgent;
  description: ApiDescription;
  tokens: InternalTokens;
  verify: VerifyToken;
  runtime: Pick<Runtime, 'now' | 'monotonicMs'>;
  /** Aborts when the server begins to close. */
  closing: AbortSignal;
}

/**
 * Builds the server that clients reach. Every request except those of public pages must be admitted first, even one whose
 * path does not exist.
 */
export async function openPublicServer(parts: PublicServerParts): Promise<FastifyInstance> {
  const { config } = parts;
  const { now, monotonicMs } = parts.runtime;
  const server = createHttpServer({ tls: parts.tls.listener });
  const addressOf = clientAddress(config.trustedProxies);
  const problems = problemContext(parts.log, addressOf, refusalLog(parts.log, monotonicMs));
  const routes = routeTable(upstreams.flatMap(({ contracts }) => contracts));
  const holdBody = bodiesOfCallers();
  const admit = admissionCheck({ ...config, addressOf, verify: parts.verify, monotonicMs });
  const forBrowsers = browserHeaders(config.publicOrigin);
  replyWithProblems(server, problems);
  discardBodies(server);
  measureRequests(server, parts.metrics, parts.tracer);
  server.addHook('onRequest', (_request, reply, done) => {
    reply.headers(forBrowsers);
    done();
  });
  limitAnonymous(server, { limit: parts.limits.anonymousCalls, isAnonymous: isPublic, findAddress: addressOf });
  server.addHook('onRequest', (request, reply, done) => {
    if (isPublic(request)) return done();
    const route = routes.find(request.method, requestPath(request.url));
    if (route) findRequestContext(request).route = route;
    const admitted = admit(request, reply);
    if (admitted) admitted.then(() => done(), done);
    else done();
  });
  registerProbes(server, parts.health);
  registerSessionRoutes(server, { log: parts.log, cookieName: config.sessionCookie, addressOf, now });
  registerPublicPages(server, apiTitle, parts.description);
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
        addressOf,
        deadlineMs: config.deadlineMs,
      }),
    );
  }
  return server;
}

function problemContext(log: Logger, addressOf: ClientAddress, refused: LogRefusal): ProblemContext {
  return {
    findTraceId: (request) => findRequestContext(request).trace.traceId,
    onServerError: (error, status, request) => {
      // The proxy logs failed calls to services, whose statuses are 502 to 504.
      if (status !== 500) return;
      log.error({ err: error.cause ?? error, traceId: findRequestContext(request).trace.traceId }, 'internal error');
    },
    onClientError: (error, request) => {
      const { trace, admission } = findRequestContext(request);
      const { traceId } = trace;
      refused(error, {
        route: describeRoute(request),
        address: addressOf(request),
        caller: admission?.caller,
        traceId,
      });
    },
  };
}

/** Routes of the gateway itself read no body; Node discards a body that is not read. */
function discardBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _body, done) => done(null));
}
