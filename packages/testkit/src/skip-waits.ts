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
  replaceWait(async (ms = 1, value, options) => {
    options?.signal?.throwIfAborted();
    lengths.push(ms);
    await timers.setImmediate();
    return value as never;
  });
  onTestFinished(() => replaceWait(setTimeout));
  return lengths;
}

/**
 * Holds the waits of `node:timers/promises` whose length in ms `isHeld` accepts, until the test has finished. Returns a
 * function that ends the waits which are held at that moment. Other waits take their time.
 */
export function holdWaits(isHeld: (ms: number) => boolean): () => void {
  const ends: (() => void)[] = [];
  const endHeld = () => {
    for (const end of ends.splice(0)) end();
  };
  const { setTimeout } = timers;
  replaceWait(async (ms = 1, value, options) => {
    if (!isHeld(ms)) return setTimeout(ms, value, options);
    options?.signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
    ends.push(resolve);
    await promise;
    return value as never;
  });
  onTestFinished(() => {
    replaceWait(setTimeout);
    endHeld();
  });
  return endHeld;
}

function replaceWait(wait: typeof timers.setTimeout): void {
  timers.setTimeout = wait;
  syncBuiltinESMExports();
}
