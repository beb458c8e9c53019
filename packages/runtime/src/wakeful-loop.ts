import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** What a loop runs, and when. */
export interface WakefulLoopOptions {
  /** The longest pause between two runs. */
  pollMs: number;
  /** Does a part of the work. Returns whether there is more, so that the next run follows at once. */
  run(signal: AbortSignal): Promise<boolean>;
  /**
   * Called when a run fails, with the number of failed runs before it in a row. Returns the pause before the next, in
   * ms.
   */
  onError(error: unknown, failures: number): number;
  /** Resolves when the first run may start. */
  after?: Promise<unknown>;
}

/** A running loop. */
export interface WakefulLoop {
  /** Starts the next run at once, or directly after the current one. */
  wake(): void;
  /** Starts no further run, and resolves when the current one has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a polling loop that can be woken: it runs when `wake` is called, and otherwise every `pollMs`. Runs never
 * overlap.
 */
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

  async function wakeOrTimeout(): Promise<void> {
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
      const wakesBefore = wakeCount;
      const hasMore = await runOnce();
      if (!hasMore && wakesBefore === wakeCount) await wakeOrTimeout();
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
