import type { Transform } from 'node:stream';
import { defaultMaxBodyBytes } from '@ticketing/rest/codec/options.ts';
import { bodyTooLarge, requireBodyFits, requirePlainBody, toBodyError } from '@ticketing/rest/limits/body-headers.ts';
import { byteBudget } from '@ticketing/runtime/byte-budget.ts';
import { pieceCounter } from '@ticketing/runtime/byte-collector.ts';
import { byteCounter } from '@ticketing/service-kit/admission/bodies-in-flight.ts';
import { tooManyAtOnce } from '@ticketing/service-kit/admission/caller-limits.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { onClosed } from '@ticketing/service-kit/server/on-closed.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findRequestContext, requireAdmission } from '../request/context.ts';

/** Refuses a body whose headers say that the service would refuse it. Errors: unsupported_encoding, body_too_large. */
export function requireAcceptableBody(request: FastifyRequest): void {
  requirePlainBody(request.headers);
  requireBodyFits(request.headers, findLimit(request));
}

/** The largest total size of the bodies of one caller's requests in flight. */
const maxBytesOfCaller = 128 * 1024 * 1024;

/**
 * Limits the total size of the bodies that one caller sends at the same time. A body counts with its announced length,
 * or with the bytes received so far if it is chunked, until the response has ended. A body that announces too much is
 * not read.
 *
 * Errors: too_many_at_once.
 */
export function bodiesOfCallers(): (request: FastifyRequest, reply: FastifyReply) => void {
  const budget = byteBudget({ total: Number.POSITIVE_INFINITY, perKey: maxBytesOfCaller });
  return (request, reply) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (length === undefined && encoding === undefined) return;
    const share = budget.open(callerKey(requireAdmission(request).caller));
    let isOver = false;
    onClosed(reply, () => {
      isOver = true;
      share.release();
    });
    const take = (bytes: number) => {
      // The rest of a body may arrive after the response; bytes counted then would never be released.
      if (isOver || share.tryGrow(bytes)) return;
      throw tooManyAtOnce('The bodies of the requests that this caller has in flight are too large together.');
    };
    if (length === undefined) findRequestContext(request).takeBodyBytes = take;
    else take(Number(length));
  };
}

/**
 * Returns the body of a request, unchanged. A body without `Content-Length` (chunked) fails with body_too_large as soon
 * as it exceeds the limit, and with too_many_pieces if it has too many pieces. For any other body, Node enforces the
 * announced length, and the service counts the pieces.
 */
export function bodyWithinLimit(request: FastifyRequest, body: NodeJS.ReadableStream): NodeJS.ReadableStream {
  return request.headers['content-length'] === undefined ? body.pipe(byteLimiter(request, body)) : body;
}

function byteLimiter(request: FastifyRequest, body: NodeJS.ReadableStream): Transform {
  const limit = findLimit(request);
  const take = findRequestContext(request).takeBodyBytes;
  const count = pieceCounter();
  let seen = 0;
  return byteCounter(body, (piece) => {
    seen += piece.length;
    if (seen > limit) throw bodyTooLarge(limit);
    try {
      count(piece);
    } catch (error) {
      throw toBodyError(error, limit);
    }
    take?.(piece.length);
  });
}

function findLimit(request: FastifyRequest): number {
  return findRequestContext(request).route?.maxBodyBytes ?? defaultMaxBodyBytes;
}
