import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { concurrencyLimiter } from '../admission/concurrency-limiter.ts';
import { maxPipelined } from '../config/server-limits.ts';
import { onClosed } from './on-closed.ts';

/**
 * Closes a connection of HTTP/1.1 that has more requests in flight than a server accepts on one. Node parses all requests
 * of a segment, some 1,600, before it pauses a connection whose responses are not read. To be called before other hooks, so
 * that the requests beyond the limit cost next to nothing.
 */
export function limitPipelining(app: FastifyInstance): void {
  const inFlight = concurrencyLimiter<IncomingMessage['socket']>();
  app.addHook('onRequest', ({ raw }, reply, done) => {
    if (raw.httpVersionMajor !== 1) return done();
    const { socket } = raw;
    const end = socket.destroyed ? undefined : inFlight.acquire(socket, maxPipelined);
    // Without a call of `done` the request is handled no further, and is released with its connection.
    if (!end) return void socket.destroy();
    onClosed(reply, end);
    done();
  });
}
