const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** When attempts are made, counted from the first. */
const offsetsMs = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

const jitter = 0.2;
const maxRetryAfterMs = 24 * hour;

/** A failed attempt, from which the time of the next one follows. Units: Unix ms. */
export interface FailedAttempt {
  /** How many attempts were made, this one included. */
  attemptsMade: number;
  now: number;
  /** A number from 0 to 1. */
  random: number;
  /** The earliest time of the next attempt, if the receiver has named one. */
  retryAfter: number | undefined;
}

/**
 * Returns when the next attempt is made; undefined after the last one. The time since the last attempt has the jitter,
 * so that a pause of the endpoint moves all further attempts and uses up none.
 *
 * Source: docs/reference/api.md, Delivery.
 */
export function nextAttemptAt({ attemptsMade, now, random, retryAfter = 0 }: FailedAttempt): number | undefined {
  const last = offsetsMs[attemptsMade - 1];
  const next = offsetsMs[attemptsMade];
  if (last === undefined || next === undefined) return undefined;
  const scheduled = now + Math.round((next - last) * (1 + jitter * (2 * random - 1)));
  return Math.max(scheduled, Math.min(retryAfter, now + maxRetryAfterMs));
}
