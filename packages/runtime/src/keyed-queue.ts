/** Runs work that shares a key one after the other; other keys do not wait. */
export interface KeyedQueue<Key> {
  run<Result>(key: Key, work: () => Promise<Result>): Promise<Result>;
}

/** Makes a queue. It keeps nothing of a key whose work is done. */
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
