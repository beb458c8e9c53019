import type { Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type FastifyHttp2Options, type FastifyInstance, fastify } from 'fastify';
import type { ConnectionLimits } from '../config/server-limits.ts';
import { maxStreams } from '../config/server-limits.ts';
import type { ListenerTls } from '../tls/service-tls.ts';
import { closeAfterReading } from './close-after-reading.ts';
import { continueWhenRead } from './continue-when-read.ts';
import { endStreamsAfterResponses } from './http2-sessions.ts';
import { joinSmallChunks } from './join-small-chunks.ts';
import { limitConnections } from './limit-connections.ts';
import { limitPipelining } from './limit-pipelining.ts';
import { rejectBadHeaders, rejectBadUrl, rejectClientError } from './malformed-request.ts';

/** The ports on which a service listens. 0 means any free port; for a service without a gRPC API, `grpc` stays 0. */
export interface Ports {
  http: number;
  grpc: number;
  internal: number;
}

/** Servers that listen together and stop together. */
export interface ListeningServers {
  /** The ports on which they listen. */
  ports: Ports;
  /**
   * Sends `Connection: close` with every response for `drainMs`, so that proxies give up their pooled connections, then
   * calls `onDrained` and closes the servers, which wait for the responses that are being sent.
   */
  close(drainMs: number, onDrained?: () => void): Promise<void>;
}

const maxHeaderBytes = 16 * 1024;

/** How often Node looks for connections whose headers or request are late; its default is 30 s. */
const lateRequestsCheckMs = 1_000;

/** Fastify passes them on to Node, whose default for streams is more than four billion. */
const http2Options = {
  settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
  // A client that cancels more calls than this, and more per second afterwards, loses its connection.
  streamResetBurst: 200,
  streamResetRate: 20,
};

/** How a server is created; without `tls` it listens without TLS. */
export interface HttpServerOptions {
  http2?: boolean;
  tls?: ListenerTls | undefined;
  /** How long the headers of a request over HTTP/1.1 may take, in ms. */
  headersMs?: number;
}

/** Creates a Fastify server with the limits that all servers of the system share. It does not listen yet. */
export function createHttpServer({ http2 = false, tls, headersMs = 10_000 }: HttpServerOptions = {}): FastifyInstance {
  const shared = {
    logger: false as const,
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    // Longer than load balancers, mostly 60 s, and clients keep connections that wait, so that these end them first.
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle' as const,
    routerOptions: { maxParamLength: 200 },
    exposeHeadRoutes: true,
    frameworkErrors: rejectBadUrl,
    clientErrorHandler: rejectClientError,
  };
  const limits = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersMs,
    connectionsCheckingInterval: lateRequestsCheckMs,
    requireHostHeader: false,
  };
  const app = (
    http2
      ? fastify({
          // A connection may be idle for as long as it lives: see limitSessions.
          ...{ logger: false, http2: true, http2SessionTimeout: 0 },
          ...(tls ? { https: { ...http2Options, ...tls.options() } } : { http: http2Options }),
        } as FastifyHttp2Options<Http2Server>)
      : fastify({ ...shared, ...(tls ? { https: { ...limits, ...tls.options() } } : { http: limits }) })
  ) as FastifyInstance;
  tls?.attach(app.server);
  limitPipelining(app);
  if (http2) endStreamsAfterResponses(app);
  rejectBadHeaders(app);
  continueWhenRead(app.server);
  if (!http2) {
    joinSmallChunks(app);
    closeAfterReading(app);
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (stopping.has(app) && request.raw.httpVersionMajor === 1) reply.header('connection', 'close');
    done();
  });
  app.addHook('preClose', async () => sweepIdleConnections(app));
  return app;
}

const stopping = new WeakSet<FastifyInstance>();

// A connection whose last request ends after close() has begun would otherwise stay open until its client closes it.
function sweepIdleConnections(app: FastifyInstance): void {
  if (!('closeIdleConnections' in app.server)) return;
  const timer = setInterval(() => app.server.closeIdleConnections(), 50).unref();
  app.server.once('close', () => clearInterval(timer));
}

/**
 * Makes servers listen on a host, the internal one on its own, each with limits of its connections. If one of them cannot, all
 * are closed.
 *
 * Errors: a port that is taken.
 */
export async function listenOn(
  { host, internalHost = host, connections }: { host: string; internalHost?: string; connections?: ConnectionLimits },
  servers: Partial<Record<keyof Ports, FastifyInstance>>,
  ports: Ports,
): Promise<ListeningServers> {
  const apps = Object.values(servers);
  const openedPorts: Ports = { ...ports };
  try {
    for (const name of ['http', 'grpc', 'internal'] as const) {
      const app = servers[name];
      if (!app) continue;
      if (connections) limitConnections(app.server, connections);
      await app.listen({ host: name === 'internal' ? internalHost : host, port: ports[name] });
      openedPorts[name] = (app.server.address() as AddressInfo).port;
    }
  } catch (error) {
    await Promise.all(apps.map((app) => app.close()));
    throw error;
  }
  return {
    ports: openedPorts,
    async close(drainMs, onDrained) {
      for (const app of apps) stopping.add(app);
      if (drainMs > 0) await new Promise((resolve) => setTimeout(resolve, drainMs));
      onDrained?.();
      await Promise.all(apps.map((app) => app.close()));
    },
  };
}
