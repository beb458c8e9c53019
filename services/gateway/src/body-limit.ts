import { Transform } from 'node:stream';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { defaultMaxBodyBytes } from '@ticketing/rest/options.ts';
import type { FastifyRequest } from 'fastify';
import { requestContextOf } from './request-context.ts';

/** Refuses a body that says it is too large. Errors: body_too_large. */
export function requireBodyFits(request: FastifyRequest): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limitOf(request)) throw bodyTooLarge(limitOf(request));
}

/**
 * The body of a request as it passes, byte for byte. One that does not say its length (chunked) fails with
 * body_too_large once it is beyond the limit; Node holds any other to the length it says.
 */
export function bodyWithinLimit(request: FastifyRequest, body: NodeJS.ReadableStream): NodeJS.ReadableStream {
  return request.headers['content-length'] === undefined ? body.pipe(counted(request, body)) : body;
}

function counted(request: FastifyRequest, body: NodeJS.ReadableStream): Transform {
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
