import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { problemHeaders, toProblem } from '@ticketing/rest/codec/problem.ts';
import { requestPath } from '@ticketing/rest/routes/problem-reply.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Responds to a request whose URL the router cannot parse. No hook and no handler runs for such a request. */
export function rejectBadUrl(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  reject(malformedRequest('The URL is malformed.'), request, reply);
}

/**
 * Refuses requests whose headers contradict each other or are missing: of two credentials or hosts, this server and a proxy
 * in front of it could use different ones. Without it, Node uses the first and responds to other faults without a body.
 */
export function rejectBadHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const fault = findFault(request.raw);
    if (fault === undefined) done();
    else reject(fault, request, reply);
  });
  app.server.on('checkExpectation', (request, response) => {
    const error = new DomainError('invalid_argument', 'expectation_failed', 'Only Expect: 100-continue is supported.');
    const { status, body, headers } = problemReply(error, request);
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  });
}

function findFault({ rawHeaders, headers, httpVersion }: IncomingMessage): DomainError | undefined {
  if (httpVersion === '1.1' && headers.host === undefined) return malformedRequest('The header Host is missing.');
  if (occursTwice('host', rawHeaders)) return malformedRequest('The header Host occurs several times.');
  // Node removes no other coding, and would take the coded bytes for the body.
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return malformedRequest('Of transfer codings only chunked is supported.');
  }
  return occursTwice('authorization', rawHeaders)
    ? new DomainError('unauthenticated', 'invalid_token', 'Of several credentials none is used.')
    : undefined;
}

/** Whether a header occurs several times: in `rawHeaders`, each name is followed by its value. */
function occursTwice(header: string, rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === header.length && name.toLowerCase() === header) count += 1;
  }
  return count > 1;
}

function malformedRequest(detail: string): DomainError {
  return new DomainError('invalid_argument', 'malformed_request', detail);
}

function reject(error: DomainError, { raw }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, body, headers } = problemReply(error, raw);
  return reply.code(status).headers(headers).send(body);
}

function problemReply(error: DomainError, request: IncomingMessage) {
  const instance = requestPath(request.url ?? '');
  const problem = toProblem(error, { instance, traceId: continueTrace(undefined).traceId });
  const headers = { ...problemHeaders(error, problem.status), ...closing(request) };
  return { status: problem.status, headers, body: JSON.stringify(problem) };
}

/** Ends the connection after a response over HTTP/1.1, so that the body of a refused request is not read. */
function closing({ httpVersionMajor }: Pick<IncomingMessage, 'httpVersionMajor'>): Record<string, string> {
  return httpVersionMajor === 1 ? { connection: 'close' } : {};
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
