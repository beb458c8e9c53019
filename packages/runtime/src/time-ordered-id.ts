import { type Runtime, systemRuntime } from './runtime.ts';

/**
 * Makes a unique id that sorts by the time it was made, for example `evt_0197c1a2b3c4…`: 48 bits of Unix milliseconds
 * and 80 random bits, in hex.
 */
export function timeOrderedId(prefix: string, runtime: Runtime = systemRuntime): string {
  return `${prefix}_${runtime.now().toString(16).padStart(12, '0')}${runtime.randomBytes(10).toString('hex')}`;
}

/**
 * Makes ids as `timeOrderedId` does. Ids of one millisecond sort in the order in which they were made, if the same
 * generator has made them.
 */
export function timeOrderedIds(prefix: string, runtime: Runtime = systemRuntime): () => string {
  let last = { time: '', random: 0n };
  return () => {
    const time = runtime.now().toString(16).padStart(12, '0');
    // One bit less than there is room for, so that adding 1 never overflows.
    const random = time === last.time ? last.random + 1n : BigInt(`0x${runtime.randomBytes(10).toString('hex')}`) >> 1n;
    last = { time, random };
    return `${prefix}_${time}${random.toString(16).padStart(20, '0')}`;
  };
}
