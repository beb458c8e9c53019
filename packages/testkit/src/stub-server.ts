import type { X509Certificate } from 'node:crypto';
import { createSecureServer, createServer, type SecureServerOptions, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';

/** A gRPC server on a free port of 127.0.0.1. */
export interface StubServer {
  port: number;
  /** The certificates that clients have presented, one for each connection, if it demands them. */
  presented: readonly X509Certificate[];
  /** Ends all connections; clients may connect again. */
  disconnect(): void;
  /** Ends all connections, and stops. */
  stop(): Promise<void>;
}

/** Serves the routes that a test gives, in place of a service that another one calls; with TLS if `tls` is given. */
export async function startStubServer(
  routes: (router: ConnectRouter) => void,
  tls?: SecureServerOptions,
): Promise<StubServer> {
  const presented: X509Certificate[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const adapter = connectNodeAdapter({ routes: (router) => routes(router) });
  const server = tls ? createSecureServer(tls, adapter) : createServer(adapter);
  server.on('session', (session) => sessions.add(session));
  server.on('secureConnection', (socket: TLSSocket) => {
    const certificate = socket.getPeerX509Certificate();
    if (certificate) presented.push(certificate);
  });
  const disconnect = () => {
    for (const session of sessions) session.destroy();
    sessions.clear();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    presented,
    disconnect,
    stop: () =>
      new Promise((resolve) => {
        disconnect();
        server.close(() => resolve());
      }),
  };
}
