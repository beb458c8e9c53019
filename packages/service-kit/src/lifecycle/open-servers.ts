import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import { Health as HealthService } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '@ticketing/contracts/grpc/reflection/v1/reflection_pb.ts';
import { ServerReflection as AlphaServerReflection } from '@ticketing/contracts/grpc/reflection/v1alpha/reflection_pb.ts';
import { defaultMaxBodyBytes } from '@ticketing/rest/codec/options.ts';
import { openApiDocument } from '@ticketing/rest/documents/openapi.ts';
import type { LargeJson } from '@ticketing/rest/limits/large-json.ts';
import { type ProblemContext, sendProblem } from '@ticketing/rest/routes/problem-reply.ts';
import { publicJson, sendDocument } from '@ticketing/rest/routes/public-document.ts';
import { registerRestApi, rejectOtherMethods, type ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Authenticator, openAuthenticator } from '../admission/authenticator.ts';
import { type BodiesInFlight, bodiesInFlight, countedBody, isSmall } from '../admission/bodies-in-flight.ts';
import { type CallerLimits, callerLimits } from '../admission/caller-limits.ts';
import { failedTokens } from '../admission/failed-tokens.ts';
import { type Call, serviceStopping } from '../call/call.ts';
import type { ServerLimits } from '../config/server-limits.ts';
import { announceDeprecation } from '../handlers/announce-deprecation.ts';
import { auditChanges } from '../handlers/audit-changes.ts';
import { honourIdempotencyKeys } from '../handlers/honour-idempotency-keys.ts';
import { limitHandlers } from '../handlers/limit-handlers.ts';
import { limitRpcDeadlines } from '../handlers/limit-rpc-deadlines.ts';
import { refuseWhenFull } from '../handlers/refuse-when-full.ts';
import { traceHandlers } from '../handlers/trace-handlers.ts';
import { checkAccess, requireAccessRules } from '../identity/access.ts';
import { type Caller, callerKey } from '../identity/caller.ts';
import type { Health } from '../observability/health.ts';
import type { Metrics } from '../observability/metrics.ts';
import { recordRequest, routePattern } from '../observability/record-request.ts';
import { type LogRefusal, refusalLog } from '../observability/refusal-log.ts';
import { healthRoutes } from '../server/grpc-health.ts';
import { reflectionRoutes } from '../server/grpc-reflection.ts';
import { createHttpServer, type ListeningServers, listenOn } from '../server/http-server.ts';
import { limitSessions } from '../server/http2-sessions.ts';
import { limitAnonymous } from '../server/limit-anonymous.ts';
import { limitRpcBodies } from '../server/limit-rpc-bodies.ts';
import { onClosed } from '../server/on-closed.ts';
import { internalServer, registerProbes } from '../server/probes.ts';
import { reportServerError } from '../server/report-server-error.ts';
import { findTrace, type RestCall, restCall } from '../server/rest-call.ts';
import { guardRpcs } from '../server/rpc-guard.ts';
import { rpcInterceptor } from '../server/rpc-interceptor.ts';
import { rpcRoutes } from '../server/rpc-routes.ts';
import type { ListenerTls } from '../tls/service-tls.ts';
import type { Composition } from './composition.ts';
import { type AnyKit, hasStore, type Kit } from './kit.ts';

/** The parts from which the servers of a service are made. */
interface ServerParts {
  log: Logger;
  refused: LogRefusal;
  metrics: Metrics;
  tracer: Tracer | undefined;
  authenticator: Authenticator;
  callerLimits: CallerLimits;
  bodies: BodiesInFlight;
  json: LargeJson;
  limits: ServerLimits;
  health: Health;
  tls: ListenerTls | undefined;
  implementations: readonly ServiceImplementation<Call>[];
  onCaller?: ((caller: Caller) => void) | undefined;
}

/**
 * Opens the servers of a service: HTTP/1.1 (REST, Connect, gRPC-Web, health, OpenAPI), h2c (native gRPC with health and
 * reflection) and the internal one (metrics). The first two are made from its contracts; a service that brings its own
 * HTTP server has that one instead.
 *
 * Errors: a method without an access rule; a port that is taken.
 */
export async function openServers(
  entry: ServiceEntry,
  kit: AnyKit,
  composition: Composition,
): Promise<ListeningServers> {
  const { config, log, metrics, tracer, health, issuer, runtime, limits } = kit;
  const ports = { http: config.httpPort, grpc: config.grpcPort, internal: config.internalPort };
  const internal = internalServer({ health, metrics, log, limits });
  if (composition.web) return listenOn(config, { http: composition.web, internal }, ports);
  const { implementations = [], onCaller } = composition;
  const stored = hasStore(kit) ? wrapWithStore(implementations, kit) : implementations;
  const limited = config.roles.includes('api') ? limitHandlers(announceDeprecation(stored), limits) : [];
  const served = tracer ? traceHandlers(limited, tracer) : limited;
  requireAccessRules(entry);
  const authenticator = openAuthenticator(entry.name, {
    issuer,
    internalJwksFile: config.internalJwksFile ?? '',
    failed: failedTokens(config.failedTokensPerMinute, runtime.monotonicMs),
  });
  const maxBytes = config.maxBodyBytesInFlight;
  const parts: ServerParts = {
    log,
    refused: refusalLog(log, runtime.monotonicMs),
    metrics,
    tracer,
    authenticator,
    callerLimits: callerLimits(config.rateLimits, runtime.monotonicMs),
    bodies: bodiesInFlight(maxBytes),
    json: kit.json,
    limits,
    health,
    tls: kit.tls.listener,
    implementations: served,
    onCaller,
  };
  const servers = { http: await webServer(entry, parts), grpc: await grpcServer(parts), internal };
  return listenOn(config, servers, ports);
}

/** Wraps handlers by those that need the database of the service. */
function wrapWithStore(
  implementations: readonly ServiceImplementation<Call>[],
  { audit, idempotency, pages, space }: Kit<unknown, unknown>,
): readonly ServiceImplementation<Call>[] {
  return refuseWhenFull(honourIdempotencyKeys(auditChanges(implementations, audit), idempotency, pages), space);
}

const documentPath = '/openapi.json';
const publicPaths = new Set(['/healthz', '/readyz', documentPath]);

async function webServer(entry: ServiceEntry, parts: ServerParts): Promise<FastifyInstance> {
  const web = createHttpServer({ tls: parts.tls });
  leaveBodiesUnread(web);
  const problems = problemContext(parts, () => undefined);
  // The REST API has another error handler; this one is for the other routes.
  web.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, problems));
  limitAnonymous(web, {
    limit: parts.limits.anonymousCalls,
    isAnonymous: ({ routeOptions }) => publicPaths.has(routeOptions.url ?? ''),
    findAddress: ({ ip }) => ip,
  });
  registerProbes(web, parts.health);
  await web.register(async (scope) => {
    const title = `Ticketing: ${entry.name}`;
    const document = publicJson(openApiDocument({ served: parts.implementations, title, version: '1' }));
    scope.get(documentPath, (_request, reply) => sendDocument(reply, document));
    rejectOtherMethods(scope, documentPath, ['GET']);
    await registerRest(scope, parts);
  });
  await registerRpcs(web, parts, listContracts(parts), rpcRoutes(parts.implementations));
  return web;
}

async function grpcServer(parts: ServerParts): Promise<FastifyInstance> {
  const contracts = listContracts(parts);
  const grpc = createHttpServer({ http2: true, tls: parts.tls });
  leaveBodiesUnread(grpc);
  limitSessions(grpc, parts.limits);
  const standard = [HealthService, ServerReflection, AlphaServerReflection];
  await registerRpcs(
    grpc,
    parts,
    [...contracts, ...standard],
    (router) => {
      rpcRoutes(parts.implementations)(router);
      healthRoutes(parts.health, contracts)(router);
      reflectionRoutes(contracts)(router);
    },
    { connect: false, grpcWeb: false },
  );
  return grpc;
}

function listContracts({ implementations }: ServerParts): DescService[] {
  return implementations.map(({ service }) => service);
}

/** Registers RPCs with the guard and the limits that come before their messages are read. */
async function registerRpcs(
  app: FastifyInstance,
  parts: ServerParts,
  contracts: readonly DescService[],
  routes: (router: ConnectRouter) => void,
  protocols: { connect?: boolean; grpcWeb?: boolean } = {},
): Promise<void> {
  const contextValues = guardRpcs(app, { ...parts, contracts });
  await app.register(fastifyConnectPlugin, {
    ...protocols,
    contextValues,
    routes: (router) => {
      routes(router);
      limitRpcBodies(router, parts);
      limitRpcDeadlines(router);
    },
    interceptors: [rpcInterceptor(parts)],
    readMaxBytes: defaultMaxBodyBytes,
    // An unknown field or enum value is an error, as it is in REST.
    jsonOptions: { ignoreUnknownFields: false },
    // A client of a newer version may send fields that this version ignores.
    binaryOptions: { readUnknownFields: false },
    shutdownTimeoutMs: 500,
    shutdownError: serviceStopping(),
  });
}

/** Responds to requests whose routes read no body without waiting for it; Node discards a body that is not read. */
function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
}

function problemContext(
  { log, refused }: ServerParts,
  findCaller: (request: FastifyRequest) => Caller | undefined,
): ProblemContext {
  return {
    findTraceId: (request) => findTrace(request).traceId,
    onServerError: (error, status, request) =>
      reportServerError(error, status, log.child({ traceId: findTrace(request).traceId })),
    onClientError: (error, request) => {
      const caller = findCaller(request);
      const address = findClientAddress(request, caller);
      refused(error, { route: routePattern(request), address, caller, traceId: findTrace(request).traceId });
    },
  };
}

/** Finds the address of the client: the gateway sends it with its token. Without a verified token the peer counts. */
function findClientAddress({ headers, ip }: FastifyRequest, caller: Caller | undefined): string | undefined {
  const forwarded = headers['x-forwarded-for'];
  return caller && typeof forwarded === 'string' ? forwarded : ip;
}

async function registerRest(scope: FastifyInstance, options: ServerParts): Promise<void> {
  const callers = new WeakMap<FastifyRequest, Caller>();
  await registerRestApi<RestCall>(scope, {
    services: options.implementations,
    onEncoded: (call) => call.encoded(),
    ...problemContext(options, (request) => callers.get(request)),
    async begin(method, request, reply) {
      const caller = await options.authenticator.rest(request);
      callers.set(request, caller);
      checkAccess(method, caller);
      options.onCaller?.(caller);
      return restCall(request, reply, options.log, caller);
    },
    json: options.json,
    nameCaller: ({ caller }) => callerKey(caller),
  });
  scope.addHook('preParsing', async (request, reply, payload) => {
    const caller = callers.get(request);
    if (!caller || isSmall(request.headers)) return payload;
    const held = options.bodies.hold(callerKey(caller), Number(request.headers['content-length'] ?? 0));
    onClosed(reply, held.release);
    return countedBody(payload, held, reply);
  });
  scope.addHook('onResponse', async (request, reply) => {
    const route = routePattern(request);
    options.metrics.observeRequest({
      api: 'rest',
      route,
      status: String(reply.statusCode),
      seconds: reply.elapsedTime / 1000,
    });
    if (options.tracer) recordRequest(options.tracer, findTrace(request), route, reply);
  });
}
