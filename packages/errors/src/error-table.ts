import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import type { DomainError, ErrorCode } from './domain-error.ts';

/** The HTTP status and the Connect code of each error code. */
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

/** The reasons whose status differs from the status of their code. */
const statusOfReason: Record<string, { status: number; title: string }> = {
  stale_version: { status: 412, title: 'Precondition failed' },
  idempotency_key_reused: { status: 422, title: 'Unprocessable content' },
  body_too_large: { status: 413, title: 'Content too large' },
  attachment_too_large: { status: 413, title: 'Content too large' },
  attachments_too_large: { status: 413, title: 'Content too large' },
  too_many_attachments: { status: 413, title: 'Content too large' },
  range_not_satisfiable: { status: 416, title: 'Range not satisfiable' },
  unsupported_encoding: { status: 415, title: 'Unsupported media type' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  headers_too_large: { status: 431, title: 'Request header fields too large' },
  expectation_failed: { status: 417, title: 'Expectation failed' },
  cursor_expired: { status: 410, title: 'Gone' },
  upstream_failed: { status: 502, title: 'Bad gateway' },
};

/** Returns the HTTP status of an error. The text of an internal error must not reach the client. */
export function toHttpStatus(error: DomainError): { status: number; title: string; isInternal: boolean } {
  const row = table[error.code];
  const { status, title } = statusOfReason[error.reason] ?? row;
  return { status, title, isInternal: row.status === 500 };
}

/** The names of the Connect codes, as in the table. */
const codeOfRpcCode = new Map<Code, ErrorCode>(
  Object.keys(table).map((name) => [table[name as ErrorCode].rpc, name as ErrorCode]),
);

/** Returns the name of a Connect code. */
export function toErrorCode(code: Code): ErrorCode {
  return codeOfRpcCode.get(code) ?? 'unknown';
}

/**
 * Returns the error as RPC clients receive it. The reason and the violations are sent as a `Problem` detail, and
 * how long to wait as `retry-after`.
 */
export function toConnectError(error: DomainError): ConnectError {
  const row = table[error.code];
  const problem = create(ProblemSchema, {
    reason: error.reason,
    errors: error.violations.map(({ pointer, code, detail }) => ({ pointer, code, detail })),
  });
  const message = row.status === 500 ? 'Internal error' : error.message;
  const { retryAfterSeconds } = error;
  const metadata = retryAfterSeconds === undefined ? undefined : { 'retry-after': String(retryAfterSeconds) };
  return new ConnectError(message, row.rpc, metadata, [{ desc: ProblemSchema, value: problem }], error);
}
