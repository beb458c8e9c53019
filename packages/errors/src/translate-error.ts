import { Code, ConnectError } from '@connectrpc/connect';
import { DomainError } from './domain-error.ts';
import { toErrorCode, toHttpStatus } from './error-table.ts';

/**
 * Turns anything that was thrown into an error that a caller may see. Anything except a `DomainError` or a Connect
 * error of the transport itself becomes `internal`, with the original as its cause.
 */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (error instanceof ConnectError && error.cause instanceof DomainError) return error.cause;
  if (error instanceof ConnectError) {
    const code = toErrorCode(error.code);
    const translated = new DomainError(code, code, error.rawMessage, { cause: error.cause });
    if (toHttpStatus(translated).status < 500 || code === 'deadline_exceeded') return translated;
  }
  return new DomainError('internal', 'internal', 'Internal error', { cause: error });
}

/**
 * Runs a handler and translates an error of a service that it called: the client sees only whether a
 * dependency is unavailable, is too slow or has failed, but not the error of the dependency itself.
 *
 * Errors: dependency_unavailable, deadline_exceeded, internal.
 */
export async function translateUpstreamErrors<Result>(handle: () => Promise<Result>): Promise<Result> {
  try {
    return await handle();
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const options = { cause: error };
    if (error.code === Code.Unavailable) {
      throw new DomainError(
        'unavailable',
        'dependency_unavailable',
        'A service that the request needs is unavailable.',
        options,
      );
    }
    if (error.code === Code.DeadlineExceeded) {
      throw new DomainError(
        'deadline_exceeded',
        'deadline_exceeded',
        'A service that the request needs takes too long.',
        options,
      );
    }
    throw new DomainError('internal', 'internal', 'Internal error', options);
  }
}
