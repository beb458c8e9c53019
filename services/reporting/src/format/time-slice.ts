import { setImmediate } from 'node:timers/promises';

const sliceMs = 10;

/** Work that shares the event loop: `isOver` says when to stop for others, `rest` lets them run. */
export interface TimeSlice {
  isOver(): boolean;
  rest(): Promise<void>;
}

/** Starts to measure how long the caller holds the event loop. */
export function startTimeSlice(): TimeSlice {
  let started = performance.now();
  return {
    isOver: () => performance.now() - started >= sliceMs,
    async rest() {
      await setImmediate();
      started = performance.now();
    },
  };
}
