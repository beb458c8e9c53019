import { randomBytes } from 'node:crypto';

/** What a process takes from its surroundings that no input decides: the time, and chance. Tests give their own. */
export interface Runtime {
  /** Unix milliseconds. */
  now(): number;
  randomBytes(size: number): Buffer;
}

/** The clock and the randomness of the operating system. */
export const systemRuntime: Runtime = { now: () => Date.now(), randomBytes };

/** Unix seconds. */
export function secondsNow(runtime: Runtime): number {
  return Math.floor(runtime.now() / 1000);
}
