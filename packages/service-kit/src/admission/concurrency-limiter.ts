/** Limits how many requests with the same key are in flight. */
export interface ConcurrencyLimiter<Key> {
  /** Counts one more request of a key. Returns the function to call at its end, or undefined if the key is at its limit. */
  acquire(key: Key, limit: number): (() => void) | undefined;
}

/** Makes a limiter. It uses no memory for keys without requests in flight. */
export function concurrencyLimiter<Key = string>(): ConcurrencyLimiter<Key> {
  const inFlight = new Map<Key, number>();
  return {
    acquire(key, limit) {
      const count = inFlight.get(key) ?? 0;
      if (count >= limit) return undefined;
      inFlight.set(key, count + 1);
      return () => {
        const left = (inFlight.get(key) ?? 1) - 1;
        if (left > 0) inFlight.set(key, left);
        else inFlight.delete(key);
      };
    },
  };
}
