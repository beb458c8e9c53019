import { setTimeout } from 'node:timers/promises';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { isWriteConflict } from './store-error.ts';

/** The longest pause before a repetition. It is random, so that processes wait for different times. */
const maxPauseMs = 100;

/** Makes a write, and repeats it while concurrent writes conflict with it. Errors: the other errors of the write. */
export async function retryConflicts<Result>(
  write: () => Promise<Result>,
  { random }: Pick<Runtime, 'random'>,
): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isWriteConflict(error)) throw error;
      await setTimeout(random() * maxPauseMs);
    }
  }
}
