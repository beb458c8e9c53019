import { DomainError } from '@ticketing/errors/domain-error.ts';

/** Failures before a service has seen any of the request, by their codes. */
const unreachable = new Set(['ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);
const tooSlow = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/**
 * Says what a failed call of a service means for the client: 503 if the service was not reached, so that nothing can
 * have happened; 504 if it did not answer in time; 502 if it was reached and did not answer properly.
 *
 * Errors: answers upstream_unavailable, deadline_exceeded, upstream_failed, or the error of ours that ended the call.
 */
export function upstreamError(service: string, thrown: unknown): DomainError {
  // The proxy wraps what undici throws.
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  if (cause instanceof DomainError) return cause;
  const { code = '', syscall } = cause as NodeJS.ErrnoException;
  if (unreachable.has(code) || syscall === 'connect' || isAllRefused(cause)) {
    return new DomainError('unavailable', 'upstream_unavailable', `The ${service} service is not available.`, {
      retryAfterSeconds: 1,
      cause,
    });
  }
  if (tooSlow.has(code)) return deadlineExceeded(cause);
  return new DomainError('unavailable', 'upstream_failed', `The ${service} service did not answer properly.`, {
    cause,
  });
}

/** The error of a request that took too long. */
export function deadlineExceeded(cause?: unknown): DomainError {
  return new DomainError('deadline_exceeded', 'deadline_exceeded', 'The request took too long.', { cause });
}

// A name with several addresses fails with one error for each.
function isAllRefused(error: unknown): boolean {
  return error instanceof AggregateError && error.errors.every(({ syscall }) => syscall === 'connect');
}
