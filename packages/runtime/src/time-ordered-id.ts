import { randomBytes } from 'node:crypto';

/**
 * Makes a unique id that sorts by the time it was made, for example `evt_0197c1a2b3c4…`: 48 bits of Unix milliseconds
 * and 80 random bits, in hex.
 */
export function timeOrderedId(prefix: string, nowMs: number = Date.now()): string {
  return `${prefix}_${nowMs.toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`;
}
