import { Code, ConnectError } from '@connectrpc/connect';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { isOutOfSpace, isUnreachable } from './store-error.ts';

/**
 * Whether work failed because the database, the bus or another service is unavailable, or the database is full: the same
 * work can succeed later.
 */
export function isTransient(error: unknown): boolean {
  if (isUnreachable(error) || isOutOfSpace(error)) return true;
  if (!(error instanceof DomainError)) return false;
  return error.code === 'unavailable' || error.code === 'canceled' || isOwnTokenRefused(error.cause);
}

/** Whether a write failed because the database is unavailable or full. */
export function isStoreOutage(error: unknown): boolean {
  return error instanceof DomainError && ['store_unavailable', 'storage_full'].includes(error.reason);
}

/**
 * Whether another service refuses the token of this service. It would refuse any call, so the work itself may succeed
 * later.
 */
function isOwnTokenRefused(cause: unknown): boolean {
  return cause instanceof ConnectError && [Code.Unauthenticated, Code.PermissionDenied].includes(cause.code);
}
