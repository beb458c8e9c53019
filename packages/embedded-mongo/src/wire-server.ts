import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type RunMessage, WireConnection } from './wire-connection.ts';

/** The address on which the server listens. */
export const loopbackHost = '127.0.0.1';

/** A server of MongoDB's wire protocol. */
export interface WireServer {
  readonly port: number;
  /** Accepts no more connections, waits for the replies to messages in flight, and closes every connection. */
  close(): Promise<void>;
}

/** How long a peer that does not read its reply may delay closing. */
const drainTimeoutMs = 5_000;

/**
 * Serves MongoDB's wire protocol on a loopback port; port 0 takes any free one.
 *
 * Errors: `EADDRINUSE`, `EACCES` or another system error if the port cannot be opened.
 */
export async function listen(run: RunMessage, port: number): Promise<WireServer> {
  const connections = new Set<WireConnection>();
  // Half-open connections, because a client may end its side before it has read its last reply.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const connection = new WireConnection(socket, run);
    connections.add(connection);
    void connection.closed.then(() => connections.delete(connection));
  });
  server.listen(port, loopbackHost);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async close() {
      const stopped = once(server, 'close');
      server.close();
      for (const connection of connections) connection.drain();
      await Promise.race([stopped, delay(drainTimeoutMs, undefined, { ref: false })]);
      for (const connection of connections) connection.destroy();
      await stopped;
    },
  };
}
