import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import { DomainError, type ErrorCode, type Violation } from './domain-error.ts';

/** A problem document (RFC 9457) with the members that decisions.md section 2 adds. */
export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  detail?: string;
  instance: string;
  success: false;
  code: string;
  traceId: string;
  errors?: readonly Violation[];
}

/** The media type of a problem document. */
export const problemMediaType = 'application/problem+json';

/** The one table of errors: what a code means over HTTP and over RPC. */
const table: Record<ErrorCode, { rpc: Code; status: number; title: string }> = {
  invalid_argument: { rpc: Code.InvalidArgument, status: 400, title: 'Bad request' },
  out_of_range: { rpc: Code.OutOfRange, status: 400, title: 'Bad request' },
  unauthenticated: { rpc: Code.Unauthenticated, status: 401, title: 'Unauthenticated' },
  permission_denied: { rpc: Code.PermissionDenied, status: 403, title: 'Unauthorized' },
  not_found: { rpc: Code.NotFound, status: 404, title: 'Not found' },
  already_exists: { rpc: Code.AlreadyExists, status: 409, title: 'Conflict' },
  aborted: { rpc: Code.Aborted, status: 409, title: 'Conflict' },
  failed_precondition: { rpc: Code.FailedPrecondition, status: 409, title: 'Conflict' },
  resource_exhausted: { rpc: Code.ResourceExhausted, status: 429, title: 'Too many requests' },
  unimplemented: { rpc: Code.Unimplemented, status: 404, title: 'Not found' },
  unavailable: { rpc: Code.Unavailable, status: 503, title: 'Service unavailable' },
  deadline_exceeded: { rpc: Code.DeadlineExceeded, status: 504, title: 'Deadline exceeded' },
  canceled: { rpc: Code.Canceled, status: 499, title: 'Request canceled' },
  data_loss: { rpc: Code.DataLoss, status: 500, title: 'Internal error' },
  unknown: { rpc: Code.Unknown, status: 500, title: 'Internal error' },
  internal: { rpc: Code.Internal, status: 500, title: 'Internal error' },
};

/** Reasons whose status is not that of their code. */
const statusOfReason: Record<string, { status: number; title: string }> = {
  stale_version: { status: 412, title: 'Precondition failed' },
  idempotency_key_reused: { status: 422, title: 'Unprocessable content' },
  body_too_large: { status: 413, title: 'Content too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  headers_too_large: { status: 431, title: 'Request header fields too large' },
  upstream_failed: { status: 502, title: 'Bad gateway' },
};

/** The name of a Connect code, as the table knows it. */
const nameOfRpcCode = new Map<Code, ErrorCode>(
  Object.keys(table).map((name) => [table[name as ErrorCode].rpc, name as ErrorCode]),
);

/**
 * Turns whatever was thrown into an error that may be answered; what is not a `DomainError` or a Connect error of the
 * transport itself becomes `internal`, with the original as its cause.
 */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (error instanceof ConnectError && error.cause instanceof DomainError) return error.cause;
  if (error instanceof ConnectError) {
    const code = nameOfRpcCode.get(error.code) ?? 'unknown';
    if (table[code].status < 500 || code === 'deadline_exceeded') {
      return new DomainError(code, code, error.rawMessage, { cause: error.cause });
    }
  }
  return new DomainError('internal', 'internal', 'Internal error', { cause: error });
}

/**
 * Runs a handler. An error of a service that it called is not passed on: that service is away or late, or has failed.
 */
export async function servedBy<Result>(handle: () => Promise<Result>): Promise<Result> {
  try {
    return await handle();
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const options = { cause: error };
    if (error.code === Code.Unavailable) {
      throw new DomainError('unavailable', 'dependency_unavailable', 'A service that this needs is away.', options);
    }
    if (error.code === Code.DeadlineExceeded) {
      throw new DomainError('deadline_exceeded', 'deadline_exceeded', 'A service that this needs is late.', options);
    }
    throw new DomainError('internal', 'internal', 'Internal error', options);
  }
}

/** The problem document and status of an error. Internal errors show nothing but their trace id. */
export function toProblem(error: DomainError, at: { instance: string; traceId: string }): ProblemDocument {
  const row = table[error.code];
  const { status, title } = statusOfReason[error.reason] ?? row;
  return {
    type: `urn:ticketing:problem:${error.reason}`,
    title: error.code === 'not_found' ? error.message : title,
    status,
    ...(row.status === 500 ? {} : { detail: error.message }),
    instance: at.instance,
    success: false,
    code: error.reason,
    traceId: at.traceId,
    ...(error.violations.length > 0 ? { errors: error.violations } : {}),
  };
}

/** The headers that belong to a problem beside its media type. */
export function problemHeaders(error: DomainError, status: number): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': problemMediaType, 'cache-control': 'no-store' };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  else if (status === 429 || status === 503 || status === 504) headers['retry-after'] = '1';
  return headers;
}

/** The same error for the RPC face; the reason and the violations travel as a `Problem` detail. */
export function toConnectError(error: DomainError): ConnectError {
  const row = table[error.code];
  const problem = create(ProblemSchema, {
    reason: error.reason,
    errors: error.violations.map(({ pointer, code, detail }) => ({ pointer, code, detail })),
  });
  const message = row.status === 500 ? 'Internal error' : error.message;
  return new ConnectError(message, row.rpc, undefined, [{ desc: ProblemSchema, value: problem }], error);
}
