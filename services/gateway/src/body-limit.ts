import { Transform } from 'node:stream';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { defaultMaxBodyBytes } from '@ticketing/rest/options.ts';
import type { FastifyRequest } from 'fastify';
import { requestContextOf } from './request-context.ts';

/** Refuses a body whose `Content-Length` is above the limit. Errors: body_too_large. */
export function requireBodyFits(request: FastifyRequest): void {
  const contentLength = Number(request.headers['content-length'] ?? 0);
  if (contentLength > limitOf(request)) throw bodyTooLarge(limitOf(request));
}

/**
 * The body of a request, unchanged. A body without `Content-Length` (chunked) fails with body_too_large as soon as it
 * exceeds the limit; for any other body, Node enforces the announced length.
 */
export function bodyWithinLimit(request: FastifyRequest, body: NodeJS.ReadableStream): NodeJS.ReadableStream {
  return request.headers['content-length'] === undefined ? body.pipe(byteLimiter(request, body)) : body;
}

function byteLimiter(request: FastifyRequest, body: NodeJS.ReadableStream): Transform {
  const limit = limitOf(request);
  let seen = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > limit) done(bodyTooLarge(limit));
      else done(null, chunk);
    },
  });
  body.once('error', (error: Error) => counter.destroy(error));
  return counter;
}

function limitOf(request: FastifyRequest): number {
  return requestContextOf(request).route?.maxBodyBytes ?? defaultMaxBodyBytes;
}

function bodyTooLarge(limit: number): DomainError {
  return new DomainError('resource_exhausted', 'body_too_large', `The body is larger than ${limit} bytes.`);
}
