import type { AddressInfo } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import { rejectBadUrl, rejectClientError } from './malformed-request.ts';

/** Where a service listens. Port 0 takes a free one; a service without a gRPC API keeps 0 there. */
export interface Ports {
  http: number;
  grpc: number;
  internal: number;
}

/** Servers that listen together and stop together. */
export interface ListeningServers {
  /** The ports that were taken. */
  ports: Ports;
  /**
   * Sends `Connection: close` with every response for `drainMs`, so that proxies let go of their pooled connections, then
   * closes.
   */
  close(drainMs: number): Promise<void>;
}

const maxHeaderBytes = 16 * 1024;
const maxConnectionAgeMs = 300_000;

/** A Fastify server with the limits that all servers of the system share. It never reads a body by itself. */
export function createHttpServer(options: { http2?: boolean } = {}): FastifyInstance {
  const shared = {
    logger: false as const,
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle' as const,
    routerOptions: { maxParamLength: 200 },
    exposeHeadRoutes: true,
    frameworkErrors: rejectBadUrl,
    clientErrorHandler: rejectClientError,
  };
  const app = (
    options.http2
      ? fastify({ logger: false, http2: true, requestTimeout: 30_000 })
      : fastify({ ...shared, http: { maxHeaderSize: maxHeaderBytes, headersTimeout: 10_000 } })
  ) as FastifyInstance;
  app.addHook('onRequest', async (request, reply) => {
    if (stopping.has(app) && request.raw.httpVersionMajor === 1) reply.header('connection', 'close');
  });
  app.addHook('preClose', async () => sweepIdleConnections(app));
  return app;
}

const stopping = new WeakSet<FastifyInstance>();

// A connection whose last request ended after close() began would stay open until its client drops it.
function sweepIdleConnections(app: FastifyInstance): void {
  if (!('closeIdleConnections' in app.server)) return;
  const timer = setInterval(() => app.server.closeIdleConnections(), 50).unref();
  app.server.once('close', () => clearInterval(timer));
}

/**
 * Closes HTTP/2 connections of a server after 5 minutes, give or take 10 %, so that clients look up its addresses
 * again and a new replica gets its share.
 */
export function ageConnections(app: FastifyInstance): void {
  app.server.on('session', (session: { close(): void }) => {
    setTimeout(() => session.close(), maxConnectionAgeMs * (0.9 + Math.random() * 0.2)).unref();
  });
}

/** Lets servers listen on a host; those that listen already are closed if a later one cannot. */
export async function listenOn(
  host: string,
  servers: Partial<Record<keyof Ports, FastifyInstance>>,
  ports: Ports,
): Promise<ListeningServers> {
  const apps = Object.values(servers);
  const taken: Ports = { ...ports };
  try {
    for (const name of ['http', 'grpc', 'internal'] as const) {
      const app = servers[name];
      if (!app) continue;
      await app.listen({ host, port: ports[name] });
      taken[name] = (app.server.address() as AddressInfo).port;
    }
  } catch (error) {
    await Promise.all(apps.map((app) => app.close()));
    throw error;
  }
  return {
    ports: taken,
    async close(drainMs) {
      for (const app of apps) stopping.add(app);
      if (drainMs > 0) await new Promise((resolve) => setTimeout(resolve, drainMs));
      await Promise.all(apps.map((app) => app.close()));
    },
  };
}
