import type { ServerHttp2Stream } from 'node:http2';
import type { FastifyReply } from 'fastify';

/**
 * Calls a function when a response has ended, or its connection; at once if that has already happened, because a closed
 * response announces it only once.
 */
export function onClosed({ raw }: Pick<FastifyReply, 'raw'>, done: () => void): void {
  if (hasClosed(raw)) done();
  else raw.once('close', done);
}

function hasClosed(raw: FastifyReply['raw']): boolean {
  if (!('stream' in raw)) return raw.closed || raw.destroyed;
  const stream = raw.stream as ServerHttp2Stream | undefined;
  return stream === undefined || stream.closed || stream.destroyed;
}
