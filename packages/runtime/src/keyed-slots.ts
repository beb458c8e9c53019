/** Lets some runs of each key go on at the same time; the others wait in turn. */
export interface KeyedSlots {
  /** Runs work when a slot of the key is free. Errors: those of the work. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

/** Makes slots, `perKey` for each key. A key without runs takes no memory. */
export function keyedSlots(perKey: number): KeyedSlots {
  const keys = new Map<string, { running: number; waiting: (() => void)[] }>();

  function release(key: string): void {
    const state = keys.get(key);
    if (!state) return;
    const next = state.waiting.shift();
    if (next) next();
    else state.running -= 1;
    if (state.running === 0) keys.delete(key);
  }

  return {
    async run(key, work) {
      const state = keys.get(key) ?? { running: 0, waiting: [] };
      keys.set(key, state);
      if (state.running < perKey) state.running += 1;
      else await new Promise<void>((resolve) => state.waiting.push(resolve));
      try {
        return await work();
      } finally {
        release(key);
      }
    },
  };
}
