import type { Runtime } from '@ticketing/runtime/runtime.ts';

/** The count of a key in its current window. */
export interface WindowCount {
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends. */
  resetSeconds: number;
  isExceeded: boolean;
}

/** Counts by key in windows of one minute. The window of a key begins when the key is first counted. */
export interface WindowCounter {
  /** Counts `more`, and returns the new count. */
  count(key: string, limit: number, more?: number): WindowCount;
  /** Returns the count without changing it. */
  peek(key: string, limit: number): WindowCount;
}

const windowMs = 60_000;
const maxKeys = 100_000;

/**
 * Makes a counter by a clock that never goes back. It drops windows that have ended, and the oldest window if there are
 * more than 100,000 keys.
 */
export function windowCounter(now: Runtime['monotonicMs']): WindowCounter {
  // In the order of their start, because a key is inserted when its window begins.
  const windows = new Map<string, { startedAt: number; used: number }>();

  const toCount = (window: { startedAt: number; used: number }, limit: number): WindowCount => ({
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
    count(key, limit, more = 1) {
      const window = current(key) ?? begin(key);
      window.used += more;
      return toCount(window, limit);
    },
    peek: (key, limit) => toCount(current(key) ?? { startedAt: now(), used: 0 }, limit),
  };
}
