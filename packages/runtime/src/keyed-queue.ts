/** Runs the work of each key one after the other. Different keys do not wait for each other. */
export interface KeyedQueue<Key> {
  /** Resolves or rejects like `work`, which starts when all earlier work of the key has ended. */
  run<Result>(key: Key, work: () => Promise<Result>): Promise<Result>;
}

/** Makes an empty queue. Keys without work use no memory. */
export function keyedQueue<Key>(): KeyedQueue<Key> {
  const tails = new Map<Key, Promise<unknown>>();
  return {
    async run(key, work) {
      const before = tails.get(key);
      const running = (before ?? Promise.resolve()).then(work, work);
      tails.set(key, running);
      try {
        return await running;
      } finally {
        if (tails.get(key) === running) tails.delete(key);
      }
    },
  };
}
