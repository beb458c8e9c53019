import { createHash } from 'node:crypto';

/** The seed of everything random in a run of tests; vitest.config.ts chooses it. */
export const seed = Number(process.env.TICKETING_TEST_SEED);

let calls = 0;

/** Returns random bytes, which no compression shortens. The nth call in a test file returns the same bytes in each run. */
export function seededBytes(size: number): Buffer {
  calls += 1;
  return createHash('shake256', { outputLength: size }).update(`${seed} ${calls}`).digest();
}

/** Counts the calls of `seededBytes` from the beginning. */
export function restartBytes(): void {
  calls = 0;
}
