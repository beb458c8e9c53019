import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';

/** A gRPC server on a free port of 127.0.0.1. */
export interface StubServer {
  port: number;
  /** Ends all connections, and stops. */
  stop(): Promise<void>;
}

/** Serves the routes that a test gives, in place of a service that another one calls. */
export async function startStubServer(routes: (router: ConnectRouter) => void): Promise<StubServer> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer(connectNodeAdapter({ routes: (router) => routes(router) }));
  server.on('session', (session) => sessions.add(session));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        for (const session of sessions) session.destroy();
        server.close(() => resolve());
      }),
  };
}
