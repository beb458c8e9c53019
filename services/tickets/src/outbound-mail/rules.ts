const minute = 60_000;
const hour = 60 * minute;

/** The pauses after the attempts that have failed. */
const pausesMs = [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour, 24 * hour];
const jitter = 0.2;

/**
 * How long to wait before the next attempt to send a mail; undefined after the last one. `attempts` counts those that were
 * made, and `random` is from 0 to 1.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function mailPauseMs(attempts: number, random: number): number | undefined {
  const pauseMs = pausesMs[attempts - 1];
  return pauseMs === undefined ? undefined : Math.round(pauseMs * (1 + jitter * (2 * random - 1)));
}
