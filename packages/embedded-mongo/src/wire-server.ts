import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type RunMessage, WireConnection } from './wire-connection.ts';

export const loopbackHost = '127.0.0.1';

export interface WireServer {
  readonly port: number;
  /** Stops accepting, lets what is in flight be answered, and ends every connection. */
  close(): Promise<void>;
}

/** A peer that does not read its reply may hold up the end for this long. */
const drainTimeoutMs = 5_000;

/**
 * Serves MongoDB's wire protocol on a loopback port; port 0 takes any free one.
 *
 * Errors: the system's own when the port cannot be had (`EADDRINUSE`, `EACCES`).
 */
export async function listen(run: RunMessage, port: number): Promise<WireServer> {
  const connections = new Set<WireConnection>();
  // Half open: a client may end its side before it has read its last reply.
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
