import { vi } from 'vitest';

/** Holds the next timer whose length in ms `isHeld` accepts, and resolves with what ends it. Other timers run. */
export function holdTimer(isHeld: (ms: number) => boolean): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<() => void>();
  const start = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, ms = 0) => {
    if (!isHeld(ms)) return start(end, ms);
    spy.mockRestore();
    resolve(end);
    return undefined;
  }) as typeof setTimeout);
  return promise;
}
