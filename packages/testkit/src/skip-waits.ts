import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/**
 * Ends every wait of `node:timers/promises` at once until the test has finished, also those of time-outs. Returns the lengths
 * of the waits in ms. For tests of code that pauses, without a service that runs: its loops would not pause either.
 */
export function skipWaits(): number[] {
  const lengths: number[] = [];
  const { setTimeout } = timers;
  const use = (wait: typeof setTimeout) => {
    timers.setTimeout = wait;
    syncBuiltinESMExports();
  };
  use(async (ms = 1, value, options) => {
    options?.signal?.throwIfAborted();
    lengths.push(ms);
    await timers.setImmediate();
    return value as never;
  });
  onTestFinished(() => use(setTimeout));
  return lengths;
}
