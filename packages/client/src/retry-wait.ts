const firstBackoffMs = 250;
const longestBackoffMs = 10_000;

/**
 * Reads a `Retry-After` header: seconds or an HTTP date.
 *
 * Shape: milliseconds, never negative; undefined if the header is missing or neither of the two.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const seconds = Number(header);
  const waitMs = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1000;
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined;
}

/** Returns the wait after a failed attempt if the server names none: exponential, half of it random. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 1));
  return ceiling / 2 + (ceiling / 2) * random();
}
