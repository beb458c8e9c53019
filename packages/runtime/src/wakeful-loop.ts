import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** What a loop does. */
export interface WakefulLoopOptions {
  /** How long it waits at most between two runs. */
  pollMs: number;
  /** Does some of the work; answers whether there is more to be done at once. */
  run(signal: AbortSignal): Promise<boolean>;
  /** Called with what a run fails with, and how often in a row it has; answers how long to wait before the next, in ms. */
  onError(error: unknown, failures: number): number;
  /** Resolves when the first run may begin. */
  after?: Promise<unknown>;
}

/** A loop at work. */
export interface WakefulLoop {
  /** Says that there is something to be done. */
  wake(): void;
  /** Begins no further run, and waits for the one that is under way. */
  stop(): Promise<void>;
}

/** Does work whenever it is woken, and now and then, one run after the other. */
export function startWakefulLoop({ pollMs, run, onError, after }: WakefulLoopOptions): WakefulLoop {
  const stopping = new AbortController();
  const wakes = new EventEmitter();
  let wakeCount = 0;
  let failures = 0;

  async function runOnce(): Promise<boolean> {
    try {
      const hasMore = await run(stopping.signal);
      failures = 0;
      return hasMore;
    } catch (error) {
      if (stopping.signal.aborted) return false;
      await pause(onError(error, failures++));
      return true;
    }
  }

  async function wokenOrLater(): Promise<void> {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, stopping.signal]);
    const either = [once(wakes, 'wake', { signal }), setTimeout(pollMs, undefined, { signal })];
    const settled = Promise.allSettled(either);
    await Promise.race(either).catch(() => undefined);
    done.abort();
    await settled;
  }

  async function loop(): Promise<void> {
    if (after) await Promise.race([after, aborted(stopping.signal)]);
    while (!stopping.signal.aborted) {
      const counted = wakeCount;
      const hasMore = await runOnce();
      if (!hasMore && counted === wakeCount) await wokenOrLater();
    }
  }

  const pause = (ms: number) => setTimeout(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const ended = loop();
  return {
    wake() {
      wakeCount += 1;
      wakes.emit('wake');
    },
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** Resolves when a signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
