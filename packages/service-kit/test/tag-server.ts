import type { Http2Server } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { ConnectError, type ConnectRouter, createClient, type ServiceImpl } from '@connectrpc/connect';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import { Health } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import fastify from 'fastify';
import { onTestFinished } from 'vitest';
import { createGrpcTransport, type GrpcTransportOptions } from '../src/client/grpc-transport.ts';

/** How long tests wait for a condition. */
export const pollOptions = { interval: 2, timeout: 30_000 };
/** The handlers of a stub of the tag service. */
export type TagStub = Partial<ServiceImpl<typeof TagService>>;

/** Records the connections of a server, so that a test can break them as a kill does. */
export function findSockets(server: Http2Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  return sockets;
}

/** Serves routes on a free port until the test has finished. `kill` breaks all connections at once. */
export async function serve(routes: (router: ConnectRouter) => void) {
  const server = fastify({ http2: true });
  const sockets = findSockets(server.server);
  await server.register(fastifyConnectPlugin, { routes, connect: false, grpcWeb: false, shutdownTimeoutMs: 50 });
  await server.listen({ host: '127.0.0.1', port: 0 });

  async function kill() {
    for (const socket of sockets) socket.destroy();
    await server.close();
  }
  onTestFinished(kill);
  const { port } = server.server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, kill };
}

/** Serves a stub of the tag service. */
export const serveTags = (stub: TagStub) => serve((router) => router.service(TagService, stub));

/** A transport to all of the given servers. */
export function connect(addresses: { address: string }[], options: Partial<GrpcTransportOptions> = {}) {
  const target = `ipv4:${addresses.map(({ address }) => address).join(',')}`;
  const transport = createGrpcTransport({
    target,
    defaultTimeoutMs: 5_000,
    services: [TagService, Health],
    ...options,
  });
  onTestFinished(() => transport.close());
  return transport;
}

/** A client of a stub of the tag service. */
export const tagClient = async (stub: TagStub, options?: Partial<GrpcTransportOptions>) =>
  createClient(TagService, connect([await serveTags(stub)], options));

/** The error of a call that must fail. */
export const findFailure = (promise: Promise<unknown>): Promise<ConnectError> =>
  promise.then(
    () => Promise.reject(new Error('the call did not fail')),
    (error: unknown) => ConnectError.from(error),
  );

/** Never resolves; rejects when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
