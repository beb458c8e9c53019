import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { problemHeaders, toProblem } from '@ticketing/rest/problem.ts';
import { pathOf } from '@ticketing/rest/problem-reply.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Responds to a request whose URL the router cannot parse. No hook and no handler runs for such a request. */
export function rejectBadUrl(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const error = new DomainError('invalid_argument', 'malformed_request', 'The URL is malformed.');
  const { traceId } = continueTrace(undefined);
  const problem = toProblem(error, { instance: pathOf(request.raw.url ?? ''), traceId });
  reply.code(problem.status).headers(problemHeaders(error, problem.status)).send(JSON.stringify(problem));
}

/** Responds on a connection whose request Node cannot parse or did not receive in time, and closes the connection. */
export function rejectClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const problemError = errorsByCode[error.code ?? ''] ?? new DomainError('invalid_argument', ...malformed);
  const problem = toProblem(problemError, { instance: '', traceId: continueTrace(undefined).traceId });
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const status = isLate ? 408 : problem.status;
  const body = JSON.stringify({ ...problem, ...(isLate ? { status, title: 'Request timeout' } : {}) });
  const headers = {
    ...problemHeaders(problemError, status),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`${[`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join('\r\n')}\r\n\r\n${body}`);
}

const malformed = ['malformed_request', 'The request is malformed.'] as const;

const errorsByCode: Record<string, DomainError | undefined> = {
  HPE_HEADER_OVERFLOW: new DomainError('invalid_argument', 'headers_too_large', 'The headers are larger than 16 KiB.'),
  ERR_HTTP_REQUEST_TIMEOUT: new DomainError(
    'invalid_argument',
    'request_timeout',
    'The request did not arrive in time.',
  ),
};
