import { type ProblemContext, replyWithProblems } from '@ticketing/rest/problem-reply.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { VerifyToken } from '@ticketing/service-kit/identity/access-token.ts';
import type { InternalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import type { Health } from '@ticketing/service-kit/lifecycle/health.ts';
import type { Metrics } from '@ticketing/service-kit/observability/metrics.ts';
import { createHttpServer } from '@ticketing/service-kit/server/http-server.ts';
import { registerProbes } from '@ticketing/service-kit/server/probes.ts';
import type { FastifyInstance } from 'fastify';
import { admitter } from './admit.ts';
import type { ApiDescription } from './api-description.ts';
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

/** What the public face of the gateway is made of. */
export interface WebParts {
  config: GatewayConfig;
  log: Logger;
  metrics: Metrics;
  health: Health;
  agent: UpstreamAgent;
  description: ApiDescription;
  tokens: InternalTokens;
  verify: VerifyToken;
  now: () => number;
}

/** Builds the public face: every request is admitted first, unless its page is public, also one to nowhere. */
export async function openWeb(parts: WebParts): Promise<FastifyInstance> {
  const { config } = parts;
  const web = createHttpServer();
  const problems = problemContext(parts.log);
  const routes = routeTable(upstreams.flatMap(({ contracts }) => contracts));
  const admit = admitter({ ...config, verify: parts.verify, now: parts.now });
  replyWithProblems(web, problems);
  discardBodies(web);
  measureRequests(web, parts.metrics);
  web.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    if (isPublic(request)) return;
    const route = routes.find(request.method, requestPath(request.url));
    if (route) requestContextOf(request).route = route;
    await admit(request, reply);
  });
  registerProbes(web, parts.health);
  registerSessionRoutes(web, config.sessionCookie);
  await web.register((scope) => registerPublicPages(scope, parts.description));
  for (const { name, contracts } of upstreams) {
    const url = config.upstreamUrls.get(name) ?? '';
    await web.register((scope) =>
      registerProxy(scope, {
        ...parts,
        ...problems,
        name,
        url,
        prefixes: routeTable(contracts).prefixes,
        deadlineMs: config.deadlineMs,
      }),
    );
  }
  return web;
}

function problemContext(log: Logger): ProblemContext {
  return {
    traceIdOf: (request) => requestContextOf(request).trace.traceId,
    // What a service has failed to answer is logged where it was called.
    onServerError: (error, status, request) => {
      if (status !== 500) return;
      log.error({ err: error.cause ?? error, traceId: requestContextOf(request).trace.traceId }, 'internal error');
    },
  };
}

/** The gateway reads no body of its own: Node lets go of one that nobody has read. */
function discardBodies(web: FastifyInstance): void {
  web.removeAllContentTypeParsers();
  web.addContentTypeParser('*', (_request, _body, done) => done(null));
}
