import { Code, ConnectError } from '@connectrpc/connect';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { backOffMs } from '@ticketing/runtime/back-off.ts';

/**
 * The number of attempts, without those that another service has prevented, after which none is made until something is
 * requested or recorded again: after about 6 minutes, an error is one of the ticket.
 */
export const maxAttempts = 6;

/** The pause as long as another service is unavailable, which is no fault of the ticket. */
const unavailableDelayMs = 3_000;
const firstDelayMs = 1_000;
const maxDelayMs = 5 * 60_000;

/** The consequence of a failed attempt. */
export interface Retry {
  /** The part of the error that is stored: it contains no text of a ticket. */
  reason: string;
  /** Null if it was the last attempt. */
  delayMs: number | null;
  /** Whether the attempt counts. */
  counts: boolean;
}

/**
 * Decides about the next attempt after one that has failed. The first attempt has the number 1. An attempt does not count
 * if another service or the end of the process has prevented it.
 */
export function planRetry(error: unknown, attempts: number, isStopping: boolean): Retry {
  const reason = describeError(error);
  if (isStopping) return { reason, delayMs: 0, counts: false };
  if (isRetryable(error)) return { reason, delayMs: unavailableDelayMs, counts: false };
  const delayMs = backOffMs(attempts - 1, { firstMs: firstDelayMs, longestMs: maxDelayMs, factor: 4 });
  return { reason, delayMs: attempts >= maxAttempts ? null : delayMs, counts: true };
}

const retryableCodes = new Set<Code>([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Aborted,
  Code.Canceled,
  Code.ResourceExhausted,
  Code.Unauthenticated,
]);

/** Whether the same attempt can succeed later, because another service has prevented it. */
function isRetryable(error: unknown): boolean {
  if (error instanceof DomainError) return error.code === 'unavailable' || error.code === 'deadline_exceeded';
  return error instanceof ConnectError && retryableCodes.has(error.code);
}

function describeError(error: unknown): string {
  if (error instanceof DomainError) return error.reason;
  if (error instanceof ConnectError) return `tickets: ${Code[error.code]}`;
  return error instanceof Error ? error.name : 'unknown';
}
