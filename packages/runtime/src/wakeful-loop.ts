import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** The result of a run: it found more work than it has done, only the work that it has done, or no work. */
export type WorkFound = 'more' | 'done' | 'nothing';

/** The work and the pauses of a loop. */
export interface WakefulLoopOptions {
  /**
   * How long the loop waits for a wake before it runs anyway: `busy` after a run that found work, then twice as long
   * after each run that found none, up to `idle`.
   */
  pollMs: { busy: number; idle: number };
  /** Does some of the work; the next run begins at once if there is more. */
  run(signal: AbortSignal): Promise<WorkFound>;
  /** Called when a run fails, with the number of failures in a row before it. Returns how long to pause then, in ms. */
  onError(error: unknown, failures: number): number;
  /** Resolves when the first run may start. */
  after?: Promise<unknown>;
}

/** A running loop. */
export interface WakefulLoop {
  /** Signals that there is work: a run begins at once, or after the one that is in progress. */
  wake(): void;
  /** Starts no further run, and resolves when the current one has ended. */
  stop(): Promise<void>;
}

/** Starts a loop that runs when it is woken, and otherwise polls. Runs never overlap. */
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

  async function loop(): Promise<void> {
    if (after) await Promise.race([after, aborted(stopping.signal)]);
    while (!stopping.signal.aborted) {
      const wakesBefore = wakeCount;
      const found = await runOnce();
      if (found !== 'more' && wakesBefore === wakeCount) await wakeOrTimeout(wakes, waitMs, stopping.signal);
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

/** A loop that is made before it is started. */
export interface LaterLoop {
  start(): WakefulLoop;
  /** Wakes the loop if it runs. Its first run looks for all work, so that no earlier wake is missed. */
  wake(): void;
}

/** Makes a loop that a role of this process may start, and that other parts of the process wake. */
export function wakefulLoop(options: WakefulLoopOptions): LaterLoop {
  let running: WakefulLoop | undefined;
  return {
    start() {
      running = startWakefulLoop(options);
      return running;
    },
    wake: () => running?.wake(),
  };
}

/** Resolves at the next wake, after `waitMs`, or when the signal aborts, and leaves no timer and no listener behind. */
async function wakeOrTimeout(wakes: EventEmitter, waitMs: number, stopping: AbortSignal): Promise<void> {
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, stopping]);
  const either = [once(wakes, 'wake', { signal }), setTimeout(waitMs, undefined, { signal })];
  const settled = Promise.allSettled(either);
  await Promise.race(either).catch(() => undefined);
  done.abort();
  await settled;
}

/** Resolves when a signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
