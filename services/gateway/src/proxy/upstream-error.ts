import { DomainError } from '@ticketing/errors/domain-error.ts';

/** No connection to a service could be opened, so that it has received nothing of the request. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';
  readonly reason: Error;

  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
  }
}

const timedOut = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/**
 * Translates a failed call to a service into the error for the client: 503 if the service was not reached, so that the
 * request had no effect; 504 if it did not respond in time; 502 if the connection or the response was broken.
 *
 * Errors: returns upstream_unavailable, deadline_exceeded or upstream_failed, or the DomainError that aborted the call.
 */
export function upstreamError(service: string, thrown: unknown): DomainError {
  // The proxy wraps the errors of undici.
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  if (cause instanceof DomainError) return cause;
  if (cause instanceof NotConnectedError) {
    return new DomainError('unavailable', 'upstream_unavailable', `The ${service} service is unavailable.`, {
      retryAfterSeconds: 1,
      cause: cause.reason,
    });
  }
  const { code = '' } = cause as NodeJS.ErrnoException;
  if (timedOut.has(code)) return deadlineExceeded(cause);
  return new DomainError('unavailable', 'upstream_failed', `The ${service} service did not return a valid response.`, {
    cause,
  });
}

/** Returns the error of a request that took too long. */
export function deadlineExceeded(cause?: unknown): DomainError {
  return new DomainError('deadline_exceeded', 'deadline_exceeded', 'The request took too long.', { cause });
}
