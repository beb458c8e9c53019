import { describe, expect, it } from 'vitest';
import { afterFailure, attemptsAtOnce, hasFailedForDays, healthy, type WebhookHealth } from './health.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** The health after failures at some times. */
function failedAt(...times: number[]): WebhookHealth {
  return times.reduce((health, time) => afterFailure(health, time), healthy);
}

describe('the breaker', () => {
  const nineteen = failedAt(...Array.from({ length: 19 }, (_, index) => index));

  // guarantee: W7
  it('pauses an endpoint for 5 minutes after 20 failures in a row, and not after 19', () => {
    expect(attemptsAtOnce(nineteen, 100)).toBe(4);
    const paused = afterFailure(nineteen, 1000);
    expect(attemptsAtOnce(paused, 1000)).toBe(0);
    expect(attemptsAtOnce(paused, 1000 + 5 * 60_000 - 1)).toBe(0);
    expect(attemptsAtOnce(paused, 1000 + 5 * 60_000)).toBe(1);
  });

  it('does not pause it for longer because the clock went back', () => {
    const paused = afterFailure(nineteen, hour);
    expect(attemptsAtOnce(paused, hour)).toBe(0);
    // The clock of another process may be behind.
    expect(attemptsAtOnce(paused, hour - 10_000)).toBe(0);
    expect(attemptsAtOnce(paused, hour - 10_001)).toBe(1);
  });

  it('pauses it again after each failure, one attempt at a time, until one succeeds', () => {
    const again = afterFailure(afterFailure(nineteen, 1000), 400_000);
    expect(attemptsAtOnce(again, 400_000 + 5 * 60_000 - 1)).toBe(0);
    expect(attemptsAtOnce(again, 400_000 + 5 * 60_000)).toBe(1);
    expect(attemptsAtOnce(healthy, 0)).toBe(4);
  });
});

describe('five days of failure only', () => {
  it('are counted from the first failure', () => {
    const health = failedAt(1, hour, 2 * day);
    expect(hasFailedForDays(health, 5 * day)).toBe(false);
    expect(hasFailedForDays(health, 5 * day + 1)).toBe(true);
  });

  it('are counted anew after a success', () => {
    expect(hasFailedForDays(healthy, 100 * day)).toBe(false);
    expect(hasFailedForDays(failedAt(4 * day), 6 * day)).toBe(false);
  });

  it('need a failure at least 24 hours after the first: one day of failures disables nothing', () => {
    expect(hasFailedForDays(failedAt(0, hour, 23 * hour), 24 * hour)).toBe(false);
  });
});
