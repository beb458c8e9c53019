import { Transform } from 'node:stream';
import { defaultMaxBodyBytes } from '@ticketing/rest/options.ts';
import { byteBudget } from '@ticketing/runtime/byte-budget.ts';
import { tooManyAtOnce } from '@ticketing/service-kit/admission/caller-limits.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { bodyTooLarge } from '@ticketing/service-kit/server/bodies-in-flight.ts';
import { onClosed } from '@ticketing/service-kit/server/on-closed.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { admissionOf, requestContextOf } from './request-context.ts';

/** Refuses a body whose `Content-Length` is above the limit. Errors: body_too_large. */
export function requireBodyFits(request: FastifyRequest): void {
  const contentLength = Number(request.headers['content-length'] ?? 0);
  if (contentLength > limitOf(request)) throw bodyTooLarge(limitOf(request));
}

/** How much the bodies of one caller's requests in flight may have together. */
const maxBytesOfCaller = 128 * 1024 * 1024;

/**
 * Makes the limit of the bodies that one caller sends at the same time. A body counts with the length that it announces,
 * or with what has arrived of it if it is chunked, until the response has ended. Nothing of a body is read that announces
 * too much.
 *
 * Errors: too_many_at_once.
 */
export function bodiesOfCallers(): (request: FastifyRequest, reply: FastifyReply) => void {
  const budget = byteBudget({ total: Number.POSITIVE_INFINITY, perKey: maxBytesOfCaller });
  return (request, reply) => {
    const key = callerKey(admissionOf(request).caller);
    const take = (bytes: number) => {
      const release = budget.tryAcquire(key, bytes);
      if (!release)
        throw tooManyAtOnce('The bodies of the requests that this caller has in flight are too large together.');
      onClosed(reply, release);
    };
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > 0) take(length);
    else requestContextOf(request).takeBodyBytes = inSteps(take);
  };
}

/** Takes bytes in steps of this size, because each step adds a listener to the response. */
const stepBytes = 1024 * 1024;

function inSteps(take: (bytes: number) => void): (bytes: number) => void {
  let left = 0;
  return (bytes) => {
    left -= bytes;
    if (left >= 0) return;
    const step = Math.max(stepBytes, -left);
    take(step);
    left += step;
  };
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
  const take = requestContextOf(request).takeBodyBytes;
  let seen = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > limit) return done(bodyTooLarge(limit));
      try {
        take?.(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  body.once('error', (error: Error) => counter.destroy(error));
  return counter;
}

function limitOf(request: FastifyRequest): number {
  return requestContextOf(request).route?.maxBodyBytes ?? defaultMaxBodyBytes;
}
