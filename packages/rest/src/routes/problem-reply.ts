import { DomainError } from '@ticketing/errors/domain-error.ts';
import { toDomainError } from '@ticketing/errors/translate-error.ts';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { problemHeaders, toProblem } from '../codec/problem.ts';
import { bodiesInFlightReason } from '../limits/body-headers.ts';

/** The functions of the server that problem documents need. */
export interface ProblemContext {
  /** Returns the id of the trace that the request belongs to. */
  findTraceId(request: FastifyRequest): string;
  /** Called once for each error that is the server's fault (status 500 and above). */
  onServerError(error: DomainError, status: number, request: FastifyRequest): void;
  /** Called once for each other error that is sent. */
  onClientError?(error: DomainError, request: FastifyRequest): void;
}

/** Makes a Fastify server respond with a problem document to every error, including the errors of Fastify itself. */
export function replyWithProblems(app: FastifyInstance, context: ProblemContext): void {
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, context));
  app.setNotFoundHandler((request, reply) => sendProblem(routeNotFound(), request, reply, context));
}

/** Makes the error for a path that no route has. */
export function routeNotFound(): DomainError {
  return new DomainError('not_found', 'route_not_found', 'Not found');
}

/**
 * Responds to one error with a problem document. A server also passes this function to Fastify as `frameworkErrors`,
 * because otherwise Fastify responds to a malformed path with another document. After a body that is too large the
 * connection is closed, so that the rest of the body need not be read.
 */
export function sendProblem(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  context: ProblemContext,
): FastifyReply {
  const error = toDomainError(fromFastify(thrown));
  const problem = toProblem(error, { instance: requestPath(request.url), traceId: context.findTraceId(request) });
  if (problem.status >= 500) context.onServerError(error, problem.status, request);
  else context.onClientError?.(error, request);
  if (problem.status === 413 || hasUnreadBody(request)) reply.header('connection', 'close');
  // Fastify would close the connection at once, so that a gateway that is still writing the body never saw the response.
  if (error.reason === bodiesInFlightReason) reply.removeHeader('connection');
  return reply.code(problem.status).headers(problemHeaders(error, problem.status)).send(JSON.stringify(problem));
}

/** Up to this many bytes are read and discarded, so that the client need not connect again. */
const discardedBytes = 64 * 1024;

/** Whether most of a body is still to come, which Node would read and discard. */
function hasUnreadBody({ raw, headers }: FastifyRequest): boolean {
  if (raw.httpVersionMajor !== 1 || raw.complete) return false;
  const isLong = Number(headers['content-length'] ?? 0) > discardedBytes;
  return isLong || headers['transfer-encoding'] !== undefined;
}

/** Returns the path of a request's URL, without its query. */
export function requestPath(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

const reasonOfFastify: Record<string, [reason: string, detail: string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is larger than this route accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'The body must be application/json.'],
};

function fromFastify(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  const { code, statusCode } = error as Partial<FastifyError>;
  if (code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET') {
    return new DomainError('canceled', 'canceled', 'The client has closed the connection.', { cause: error });
  }
  const known = code === undefined ? undefined : reasonOfFastify[code];
  if (known) {
    const [reason, detail] = known;
    return new DomainError(reason === 'body_too_large' ? 'resource_exhausted' : 'invalid_argument', reason, detail);
  }
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return error;
  return new DomainError('invalid_argument', 'malformed_request', 'The request is malformed.', { cause: error });
}
