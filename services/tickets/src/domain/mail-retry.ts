const minute = 60_000;
const hour = 60 * minute;

/** The pauses after the attempts that have failed. */
const pausesMs = [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour, 24 * hour];
const jitter = 0.2;

/**
 * When the next attempt to send a mail is made; undefined after the last one. `attempts` counts those that were made, and
 * `random` is from 0 to 1. Units: Unix ms.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function nextMailAttemptAt(attempts: number, now: number, random: number): number | undefined {
  const pause = pausesMs[attempts - 1];
  return pause === undefined ? undefined : now + Math.round(pause * (1 + jitter * (2 * random - 1)));
}
