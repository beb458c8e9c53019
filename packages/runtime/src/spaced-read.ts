import { setTimeout } from 'node:timers/promises';
import { sharedRead } from './shared-read.ts';

/**
 * Makes a read that callers share as in `sharedRead`, and that begins at most once in `everyMs`: a call that comes earlier
 * waits for the next one. So no result is older than its call, however often a costly read is asked for.
 */
export function spacedRead<Result>(read: () => Promise<Result>, everyMs: number): () => Promise<Result> {
  const shared = sharedRead(read);
  let begunAt = Number.NEGATIVE_INFINITY;
  let next: Promise<Result> | undefined;

  async function begin(): Promise<Result> {
    // By a clock that never goes back.
    await setTimeout(Math.max(0, begunAt + everyMs - performance.now()));
    begunAt = performance.now();
    next = undefined;
    return shared();
  }

  return () => {
    next ??= begin();
    return next;
  };
}
