import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { addressKey } from '../admission/address-key.ts';
import type { ConnectionLimits } from '../config/server-limits.ts';

/** A server that counts its connections. HTTP/2 servers lack `closeIdleConnections`; see `limitSessions`. */
type Listener = Server & { closeIdleConnections?(): void };

/** How often room is made at most, so that a flood of connections costs little. Units: ms. */
const roomEveryMs = 100;

/** How long a connection may be silent before the system probes its peer, in ms. */
const keepAliveAfterMs = 30_000;

/**
 * Limits the connections of a listener. A further one of an address is closed before a byte of it is read, so that one client
 * takes no more than its share. When the listener is full, a further one is closed as well, and room is made: of the address
 * with the most connections, those are closed that wait for a next request; if it has none of these, of the next address.
 *
 * TCP probes silent connections, so that the network between does not forget them, and a peer that has vanished loses its
 * place.
 */
export function limitConnections(server: Listener, { total, ofAddress }: ConnectionLimits): void {
  server.maxConnections = total;
  const counts = new Map<string, number>();
  // Before the listener that Node has added, which begins to read.
  server.prependListener('connection', (socket: Socket) => {
    const address = addressKey(socket.remoteAddress);
    const count = (counts.get(address) ?? 0) + 1;
    if (ofAddress > 0 && count > ofAddress) {
      socket.destroy();
      return;
    }
    counts.set(address, count);
    socket.setKeepAlive(true, keepAliveAfterMs);
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left === 0) counts.delete(address);
      else counts.set(address, left);
    });
  });
  if (!server.closeIdleConnections) return;
  const idleSockets = followIdle(server);
  const idleConnections = () =>
    idleSockets().map((socket) => ({ address: addressKey(socket.remoteAddress), end: () => void socket.destroy() }));
  makeRoomWhenFull(server, idleConnections, () => counts);
}

/** A connection that waits for its client: for a next request or call, or until it takes a response. */
export interface IdleConnection {
  address: string;
  end(): void;
}

/**
 * Makes room when a listener is full: of the addresses that have idle connections, the one with the most connections
 * loses its idle ones.
 */
export function makeRoomWhenFull(
  server: Server,
  idleConnections: () => IdleConnection[],
  countsOfAddresses: () => ReadonlyMap<string, number>,
): void {
  let madeRoomAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    if (performance.now() < madeRoomAt + roomEveryMs) return;
    madeRoomAt = performance.now();
    const byAddress = Map.groupBy(idleConnections(), ({ address }) => address);
    const counts = countsOfAddresses();
    const readCount = (address: string) => counts.get(address) ?? 0;
    const [first] = [...byAddress].sort(([left], [right]) => readCount(right) - readCount(left));
    for (const connection of first?.[1] ?? []) connection.end();
  });
}

/** Follows which connections wait for a next request. Returns a function that lists them. */
function followIdle(server: Listener): () => Socket[] {
  // How many bytes each had sent when it began to wait: one that has sent more has begun its next request.
  const waiting = new Map<Socket, number>();
  const requests = new WeakMap<Socket, number>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (!requests.has(socket)) socket.once('close', () => waiting.delete(socket));
    requests.set(socket, (requests.get(socket) ?? 0) + 1);
    waiting.delete(socket);
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1;
      requests.set(socket, left);
      if (left === 0 && !socket.destroyed) waiting.set(socket, socket.bytesRead);
    });
  });
  return () => [...waiting].filter(([socket, bytes]) => socket.bytesRead === bytes).map(([socket]) => socket);
}
