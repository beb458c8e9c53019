import { maxClockSkewMs } from '@ticketing/runtime/runtime.ts';

/** The health of a webhook endpoint, as its attempts have shown it. Units: Unix ms. */
export interface WebhookHealth {
  failuresInRow: number;
  /** The first failure since the last success. */
  firstFailureAt: number | null;
  /** Until when the breaker makes no attempts. */
  pausedUntil: number | null;
}

/** The health of an endpoint without failures. */
export const healthy: WebhookHealth = { failuresInRow: 0, firstFailureAt: null, pausedUntil: null };

const failuresUntilPause = 20;
const pauseMs = 5 * 60_000;
const failedMs = 5 * 24 * 60 * 60_000;
const maxAtOnce = 4;

/**
 * Returns the health after a failed attempt: 20 failures in a row pause the endpoint, and so does every failure after a
 * pause, until one attempt succeeds.
 *
 * Source: docs/reference/guarantees.md, Webhooks.
 */
export function afterFailure({ failuresInRow, firstFailureAt }: WebhookHealth, now: number): WebhookHealth {
  const failures = failuresInRow + 1;
  return {
    failuresInRow: failures,
    firstFailureAt: firstFailureAt ?? now,
    pausedUntil: failures >= failuresUntilPause ? now + pauseMs : null,
  };
}

/**
 * Whether an endpoint has only failed for five days. They are counted from the first failure that is followed by another
 * at least 24 hours later; a failure after five days is such another one.
 */
export function hasFailedForDays({ firstFailureAt }: WebhookHealth, now: number): boolean {
  return firstFailureAt !== null && now - firstFailureAt >= failedMs;
}

/**
 * Returns how many attempts an endpoint may have at once: none in a pause, one after it, otherwise 4. A pause that ends
 * later than one that begins now is over: the clock went back.
 */
export function attemptsAtOnce({ failuresInRow, pausedUntil }: WebhookHealth, now: number): number {
  if (pausedUntil !== null && pausedUntil > now && pausedUntil <= now + pauseMs + maxClockSkewMs) return 0;
  return failuresInRow >= failuresUntilPause ? 1 : maxAtOnce;
}
