import { setTimeout } from 'node:timers/promises';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { isWriteConflict } from './store-error.ts';

/** Before it makes a write again, each process waits for another time. */
const maxPauseMs = 100;

/** Makes a write, and makes it again as long as writes of the same moment conflict with it. Errors: the others of the write. */
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
