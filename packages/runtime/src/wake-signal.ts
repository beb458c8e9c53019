/** Connects code that makes work with the loop that does it, of which there may be none in a process. */
export interface WakeSignal {
  /** Wakes the subscribed loops. */
  wake(): void;
  /** Wakes a loop from now on. */
  subscribe(loop: { wake(): void }): void;
}

/** Makes a signal to which no loop is subscribed. */
export function wakeSignal(): WakeSignal {
  const loops = new Set<{ wake(): void }>();
  return {
    wake() {
      for (const loop of loops) loop.wake();
    },
    subscribe(loop) {
      loops.add(loop);
    },
  };
}
