import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The time and the bytes for which the rest of a body is read after the response. */
const maxMs = 1_000;
const maxBytes = 1024 * 1024;
const checkMs = 20;

/**
 * Closes a connection over HTTP/1.1 whose client still sends a body in two steps: after the response only for writing, and
 * when the client has closed it too, or after a moment, for good. Node closes it at once. Then the next bytes of the client
 * reset the connection, and the client loses the response. Source: RFC 9112, section 9.6.
 */
export function closeAfterReading({ server }: Pick<FastifyInstance, 'server'>): void {
  server.prependListener('request', (request: IncomingMessage) => {
    const { socket } = request;
    if (request.httpVersionMajor !== 1) return;
    // Node calls this after the last response of a connection.
    socket.destroySoon = () => {
      if (request.complete) Socket.prototype.destroySoon.call(socket);
      else closeSlowly(socket);
    };
  });
}

function closeSlowly(socket: Socket): void {
  const { bytesRead } = socket;
  let checks = maxMs / checkMs;
  // Nothing parses the rest, which may be many small chunks.
  socket.removeAllListeners('data').on('data', () => undefined);
  socket.resume().end();
  const timer = setInterval(() => {
    checks -= 1;
    // A client that sends more waits then, and finds the response.
    if (socket.bytesRead - bytesRead > maxBytes) socket.pause();
    if (checks === 0) socket.destroy();
  }, checkMs).unref();
  socket.once('close', () => clearInterval(timer));
}
