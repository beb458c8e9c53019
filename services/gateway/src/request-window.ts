/** What a counted request may know of its window. */
export interface WindowCount {
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends. */
  resetSeconds: number;
  isExceeded: boolean;
}

/** Counts by key in windows of one minute, each of which begins with the first count of its key. */
export interface RequestWindow {
  /** Counts one more. */
  count(key: string, limit: number): WindowCount;
  /** Looks without counting. */
  look(key: string, limit: number): WindowCount;
}

const windowMs = 60_000;
const maxKeys = 100_000;

/** Makes a counter that forgets windows as they end, and the oldest ones beyond 100,000 keys. */
export function requestWindow(now: () => number): RequestWindow {
  // In the order of their start, as each key is set when its window begins.
  const windows = new Map<string, { startedAt: number; used: number }>();

  const report = (window: { startedAt: number; used: number }, limit: number): WindowCount => ({
    limit,
    remaining: Math.max(0, limit - window.used),
    resetSeconds: Math.max(1, Math.ceil((window.startedAt + windowMs - now()) / 1000)),
    isExceeded: window.used > limit,
  });
  const current = (key: string) => {
    const window = windows.get(key);
    return window && now() - window.startedAt < windowMs ? window : undefined;
  };
  const begin = (key: string) => {
    for (const [oldest, { startedAt }] of windows) {
      if (windows.size < maxKeys && now() - startedAt < windowMs) break;
      windows.delete(oldest);
    }
    windows.delete(key);
    const window = { startedAt: now(), used: 0 };
    windows.set(key, window);
    return window;
  };
  return {
    count(key, limit) {
      const window = current(key) ?? begin(key);
      window.used += 1;
      return report(window, limit);
    },
    look: (key, limit) => report(current(key) ?? { startedAt: now(), used: 0 }, limit),
  };
}
