import type { IncomingMessage } from 'node:http';
import { ByteCollector, noteJoined } from '@ticketing/runtime/byte-collector.ts';
import type { FastifyInstance } from 'fastify';

/** The size from which a chunk is passed on unchanged. Units: bytes. */
const largeBytes = 16 * 1024;
/** The most bytes, and the most chunks, that are joined to one piece. */
const maxJoinedBytes = 64 * 1024;
const maxJoinedChunks = 10_000;

/**
 * Joins the small chunks of a chunked body over HTTP/1.1 that arrive in one turn of the event loop, before anybody reads
 * them. Node parses all chunks of a segment at once, up to 10,900 of one byte, and each that waits to be read costs 300
 * bytes, and a turn through every stream on its way. A joined piece counts as the chunks that it is made of.
 */
export function joinSmallChunks({ server }: Pick<FastifyInstance, 'server'>): void {
  const join = (request: IncomingMessage) => {
    if (request.httpVersionMajor === 1 && request.headers['transfer-encoding'] !== undefined) joinChunks(request);
  };
  server.prependListener('request', join);
}

function joinChunks(request: IncomingMessage): void {
  const push = request.push.bind(request);
  const collector = () => new ByteCollector({ maxBytes: maxJoinedBytes });
  let waiting = collector();
  let chunks = 0;
  const flush = () => {
    if (chunks === 0) return;
    const piece = noteJoined(waiting.toBuffer(), chunks);
    waiting = collector();
    chunks = 0;
    push(piece);
  };
  request.push = (chunk: Buffer | null) => {
    const isSmall = chunk !== null && chunk.length < largeBytes;
    if (!isSmall || chunks === maxJoinedChunks || waiting.size + chunk.length > maxJoinedBytes) flush();
    if (!isSmall) return push(chunk);
    if (chunks === 0) setImmediate(flush);
    waiting.add(chunk);
    chunks += 1;
    // Node reads no more of the connection until the joined piece has been read.
    return false;
  };
}
