import { setImmediate } from 'node:timers/promises';

const sliceMs = 10;

/** A time slice of the event loop: long-running work pauses when its slice is over, so that other requests are served. */
export interface TimeSlice {
  /** Whether the work has run long enough and should pause. */
  isOver(): boolean;
  /** Lets other work of the event loop run, then starts the next slice. */
  pause(): Promise<void>;
}

/** Starts a time slice of 10 ms. */
export function startTimeSlice(): TimeSlice {
  let started = performance.now();
  return {
    isOver: () => performance.now() - started >= sliceMs,
    async pause() {
      await setImmediate();
      started = performance.now();
    },
  };
}
