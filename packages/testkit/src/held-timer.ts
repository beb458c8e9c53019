import { vi } from 'vitest';

/** Holds the next timer of exactly this length, and resolves with what ends it. Other timers run. */
export function holdTimer(ms: number): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<() => void>();
  const start = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, length?: number) => {
    if (length !== ms) return start(end, length);
    spy.mockRestore();
    resolve(end);
    return undefined;
  }) as typeof setTimeout);
  return promise;
}
