import type { DomainError } from '@ticketing/errors/domain-error.ts';
import { toProblem } from '@ticketing/rest/codec/problem.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';

/**
 * Logs an error with its cause if `status` (of HTTP) says that it is not the client's fault: an internal error as an
 * error, an unavailable or slow dependency as a warning.
 */
export function reportServerError(error: DomainError, status: number, log: Logger): void {
  if (status < 500) return;
  const fields = { err: error.cause ?? error, reason: error.reason };
  if (status === 500) log.error(fields, 'internal error');
  else log.warn(fields, error.message);
}

/** Logs an error of an RPC by the same rule: the status is the one that a REST response would have. */
export function reportRpcError(error: DomainError, log: Logger): void {
  reportServerError(error, toProblem(error, { instance: '', traceId: '' }).status, log);
}
