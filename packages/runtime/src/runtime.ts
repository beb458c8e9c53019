import { randomBytes, randomUUID } from 'node:crypto';

/** How far the clocks of two processes may differ. Source: docs/decisions/0059-one-attempt-at-a-store.md. */
export const maxClockSkewMs = 10_000;

/** The sources of time and randomness of a process. Tests replace them. */
export interface Runtime {
  /** Unix milliseconds, for dates. An operator or a time server may set this clock back. */
  now(): number;
  /** Milliseconds since some moment, for durations, windows and ages: a clock that never goes back. */
  monotonicMs(): number;
  randomBytes(size: number): Buffer;
  randomUUID(): string;
  /** Returns a number from 0 up to, but not including, 1. */
  random(): number;
}

/** The clock and the randomness of the operating system. */
export const systemRuntime: Runtime = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  randomBytes,
  randomUUID,
  random: Math.random,
};

/** Returns the current time in Unix seconds. */
export function secondsNow(runtime: Runtime): number {
  return Math.floor(runtime.now() / 1000);
}
