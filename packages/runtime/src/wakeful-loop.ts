import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** How much work a run has found: more than it has done, as much as it has done, or nothing. */
export type WorkFound = 'more' | 'done' | 'nothing';

/** What a loop does. */
export interface WakefulLoopOptions {
  /**
   * How long it waits before it looks for work that nobody wakes it for: `busy` after a run with work, then twice as long
   * after each run without, up to `idle`.
   */
  pollMs: { busy: number; idle: number };
  /** Does some of the work; the next run begins at once if there is more. */
  run(signal: AbortSignal): Promise<WorkFound>;
  /** Called with what a run fails with, and how often in a row it has; returns how long to wait before the next, in ms. */
  onError(error: unknown, failures: number): number;
  /** Resolves when the first run may start. */
  after?: Promise<unknown>;
}

/** A running loop. */
export interface WakefulLoop {
  /** Says that there is work: a run begins at once, or after the one that is under way. */
  wake(): void;
  /** Starts no further run, and resolves when the current one has ended. */
  stop(): Promise<void>;
}

/** Does work whenever it is woken, and now and then by itself, one run after the other. */
export function startWakefulLoop({ pollMs, run, onError, after }: WakefulLoopOptions): WakefulLoop {
  const stopping = new AbortController();
  const wakes = new EventEmitter();
  let wakeCount = 0;
  let failures = 0;
  let waitMs = pollMs.busy;

  async function runOnce(): Promise<WorkFound> {
    try {
      const found = await run(stopping.signal);
      failures = 0;
      waitMs = found === 'nothing' ? Math.min(pollMs.idle, waitMs * 2) : pollMs.busy;
      return found;
    } catch (error) {
      if (stopping.signal.aborted) return 'nothing';
      await pause(onError(error, failures++));
      return 'more';
    }
  }

  async function wakeOrTimeout(): Promise<void> {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, stopping.signal]);
    const either = [once(wakes, 'wake', { signal }), setTimeout(waitMs, undefined, { signal })];
    const settled = Promise.allSettled(either);
    await Promise.race(either).catch(() => undefined);
    done.abort();
    await settled;
  }

  async function loop(): Promise<void> {
    if (after) await Promise.race([after, aborted(stopping.signal)]);
    while (!stopping.signal.aborted) {
      const counted = wakeCount;
      const found = await runOnce();
      if (found !== 'more' && counted === wakeCount) await wakeOrTimeout();
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
