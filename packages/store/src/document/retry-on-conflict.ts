import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { isWriteConflict } from './store-error.ts';

/** The result of an attempt that has changed nothing, because another write came first. */
export const conflict = Symbol('conflict');

/**
 * The limit for all writes of the system. In each round one of the concurrent writes succeeds, so a write loses at most
 * as often as there are others at the same time: a process handles at most 512 requests of a machine at once. Other
 * attempts wait for a time, such as the end of a bulk. All attempts together take about 10 s with their pauses, and a
 * caller waits for 30 s.
 */
const maxAttempts = 1000;
/** Most conflicts are over at once. */
const attemptsWithoutPause = 10;
/** Pauses are random, so that processes do not stay in step. */
const maxPauseMs = 20;

/**
 * Makes a write that depends on a read: `attempt` reads, decides and commits, and returns `conflict` if another write
 * came between; its argument is 1 at the first attempt. A write that the database refuses because of a concurrent one is
 * a conflict too.
 *
 * Errors: those of `attempt`; concurrent_change, or the given error, if other writes come first too often.
 */
export async function retryOnConflict<Result>(
  { random }: Pick<Runtime, 'random'>,
  tooOften: string | (() => DomainError),
  attempt: (nth: number) => Promise<Result | typeof conflict>,
): Promise<Result> {
  for (let nth = 1; nth <= maxAttempts; nth += 1) {
    try {
      const result = await attempt(nth);
      if (result !== conflict) return result;
    } catch (error) {
      if (!isWriteConflict(error)) throw error;
    }
    if (nth >= attemptsWithoutPause && nth < maxAttempts) await setTimeout(random() * maxPauseMs);
  }
  throw typeof tooOften === 'string' ? new DomainError('aborted', 'concurrent_change', tooOften) : tooOften();
}
