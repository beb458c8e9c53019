import { Code, ConnectError } from '@connectrpc/connect';
import { DomainError } from '@ticketing/errors/domain-error.ts';

/**
 * The number of attempts, without those that another service has prevented, after which none is made until something is
 * requested or noted again.
 */
export const maxAttempts = 6;
/** The pause as long as another service is unavailable, which is no fault of the ticket. */
export const unavailableDelayMs = 3_000;

const firstDelayMs = 1_000;
const maxDelayMs = 5 * 60_000;

/** The pause after an attempt that has failed; the first one has the number 1. */
export function delayAfter(attempts: number): number {
  return Math.min(maxDelayMs, firstDelayMs * 4 ** (attempts - 1));
}

const transientCodes = new Set<Code>([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Aborted,
  Code.Canceled,
  Code.ResourceExhausted,
  Code.Unauthenticated,
]);

/** Whether the same attempt can succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof DomainError) return error.code === 'unavailable' || error.code === 'deadline_exceeded';
  return error instanceof ConnectError && transientCodes.has(error.code);
}

/** The part of an error that is stored: it contains no text of a ticket. */
export function reasonOf(error: unknown): string {
  if (error instanceof DomainError) return error.reason;
  if (error instanceof ConnectError) return `tickets: ${Code[error.code]}`;
  return error instanceof Error ? error.name : 'unknown';
}
