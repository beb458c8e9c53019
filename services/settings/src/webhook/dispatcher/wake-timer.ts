/** Calls a function at the earliest of the times that it is given. */
export interface WakeTimer {
  /** Units: Unix ms. */
  wakeAt(time: number): void;
  stop(): void;
}

const maxDelayMs = 60 * 60_000;

/** Makes a timer. Units: `now` in Unix ms. */
export function wakeTimer(now: () => number, wake: () => void): WakeTimer {
  let next: { time: number; timer: NodeJS.Timeout } | undefined;

  function stop(): void {
    clearTimeout(next?.timer);
    next = undefined;
  }

  return {
    wakeAt(time) {
      // A poll covers times beyond `maxDelayMs`.
      if (time - now() > maxDelayMs || (next && next.time <= time)) return;
      stop();
      const delayMs = Math.max(0, time - now());
      const timer = setTimeout(() => {
        next = undefined;
        wake();
      }, delayMs);
      next = { time, timer };
    },
    stop,
  };
}
