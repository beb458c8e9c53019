import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import { openApiDocument } from '@ticketing/rest/openapi.ts';
import {
  defaultMaxBodyBytes,
  registerRestApi,
  rejectOtherMethods,
  type ServiceImplementation,
} from '@ticketing/rest/rest-api.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { FastifyInstance } from 'fastify';
import { checkAccess, requireAccessRules } from '../identity/access.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import type { Caller } from '../identity/caller.ts';
import type { Health } from '../lifecycle/health.ts';
import type { Metrics } from '../observability/metrics.ts';
import { announceDeprecation } from './announce-deprecation.ts';
import { type Call, callInterceptor, callRoutes, reportServerError, restCall, traceOf } from './call.ts';
import { healthRoutes } from './grpc-health.ts';
import { reflectionRoutes } from './grpc-reflection.ts';
import { ageConnections, type HttpServer, listenOn, openServer } from './http-server.ts';
import { internalServer, registerProbes } from './probes.ts';
import { rejectBeforeBody } from './reject-before-body.ts';

/** Where the faces of a service listen. Port 0 takes a free one. */
export interface Ports {
  http: number;
  grpc: number;
  internal: number;
}

/** What the faces of a service are made of. */
export interface ServiceServerOptions {
  /** The name of the service: its audience in tokens, its label in metrics. */
  name: string;
  host: string;
  ports: Ports;
  served: readonly ServiceImplementation<Call>[];
  authenticator: Authenticator;
  health: Health;
  log: Logger;
  metrics: Metrics;
  /** Told of every caller that was verified. */
  onCaller?: (caller: Caller) => void;
}

const maxTimeoutMs = 30_000;

/**
 * Builds the three servers of a service: HTTP/1.1 (REST, Connect, gRPC-Web, health, OpenAPI), h2c (native gRPC with
 * health and reflection) and the internal one (metrics), all from the contracts of what is served.
 *
 * Errors: throws if a method declares no access rule.
 */
export async function openServiceServer(given: ServiceServerOptions): Promise<HttpServer<Ports>> {
  const options = { ...given, served: announceDeprecation(given.served) };
  const services = options.served.map(({ service }) => service);
  requireAccessRules(services);
  const web = openServer();
  rejectBeforeBody(web, services, options.authenticator);
  registerProbes(web, options.health);
  await web.register(async (scope) => {
    const document = openApiDocument({ served: options.served, title: `Ticketing: ${options.name}`, version: '1' });
    const json = JSON.stringify(document);
    scope.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(json));
    rejectOtherMethods(scope, '/openapi.json', ['GET']);
    await registerRest(scope, options);
  });
  const connectOptions = {
    interceptors: [callInterceptor(options)],
    readMaxBytes: defaultMaxBodyBytes,
    maxTimeoutMs,
    shutdownTimeoutMs: 500,
  };
  await web.register(fastifyConnectPlugin, { routes: callRoutes(options.served), ...connectOptions });
  const grpc = openServer({ http2: true });
  await grpc.register(fastifyConnectPlugin, {
    ...connectOptions,
    connect: false,
    grpcWeb: false,
    routes: (router) => {
      callRoutes(options.served)(router);
      healthRoutes(options.health, services)(router);
      reflectionRoutes(services)(router);
    },
  });
  ageConnections(grpc);
  const internal = internalServer(options.health, options.metrics, options.log);
  return listenOn(options.host, { http: web, grpc, internal }, options.ports);
}

async function registerRest(scope: FastifyInstance, options: ServiceServerOptions): Promise<void> {
  await registerRestApi<Call>(scope, {
    services: options.served,
    traceIdOf: (request) => traceOf(request).traceId,
    onServerError: (error, status, request) =>
      reportServerError(error, status, options.log.child({ traceId: traceOf(request).traceId })),
    async begin(method, request, reply) {
      const caller = await options.authenticator.rest(request.headers.authorization);
      checkAccess(method, caller);
      options.onCaller?.(caller);
      return restCall(request, reply, options.log, caller);
    },
  });
  scope.addHook('onResponse', async (request, reply) => {
    options.metrics.observeRequest({
      face: 'rest',
      route: `${request.method} ${request.routeOptions.url ?? 'unmatched'}`,
      status: String(reply.statusCode),
      seconds: reply.elapsedTime / 1000,
    });
  });
}
