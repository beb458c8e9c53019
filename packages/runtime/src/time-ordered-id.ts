import { type Runtime, systemRuntime } from './runtime.ts';

/**
 * Makes a unique id that sorts by the time it was made, for example `evt_0197c1a2b3c4…`: 48 bits of Unix milliseconds
 * and 80 random bits, in hex.
 */
export function timeOrderedId(prefix: string, runtime: Runtime = systemRuntime): string {
  return `${prefix}_${runtime.now().toString(16).padStart(12, '0')}${runtime.randomBytes(10).toString('hex')}`;
}
