import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';

/**
 * How often a write is attempted: the only such limit of this service. A failed attempt means that another write of the
 * same ticket or message has succeeded, so a high limit repeats no error. With the pauses, all attempts take about 10 s:
 * longer than any queue of writes that was measured, and shorter than the time that a caller waits.
 */
const maxAttempts = 1000;
/** After this many attempts, each further one waits for a random time first. */
const attemptsWithoutPause = 10;
const maxPauseMs = 20;

/**
 * Repeats an attempt until it returns a result. Undefined: another write came first.
 *
 * Errors: those of the attempt; concurrent_change if too many other writes come first.
 */
export async function retryOnConflict<Result>(
  { random }: Pick<Runtime, 'random'>,
  subject: 'ticket' | 'message',
  attempt: (nth: number) => Promise<Result | undefined>,
): Promise<Result> {
  for (let nth = 1; nth <= maxAttempts; nth++) {
    const result = await attempt(nth);
    if (result !== undefined) return result;
    if (nth > attemptsWithoutPause) await setTimeout(random() * maxPauseMs);
  }
  throw new DomainError('aborted', 'concurrent_change', `The ${subject} is being changed too often.`);
}
