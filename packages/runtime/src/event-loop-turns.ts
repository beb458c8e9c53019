/** Spreads work that arrives at once over turns of the event loop, so that other work of the process comes in between. */
export interface EventLoopTurns {
  /** Resolves when work of a key may begin: at once, unless too much has begun in this turn. Keys are served in turn. */
  wait(key: object): Promise<void>;
}

/** Makes turns in each of which `perTurn` pieces of work begin. A key that does not wait takes no memory. */
export function eventLoopTurns(perTurn: number): EventLoopTurns {
  /** The waiting work, in the order in which the keys are served. */
  const byKey = new Map<object, (() => void)[]>();
  let begun = 0;

  function beginNext(): boolean {
    for (const [key, waiting] of byKey) {
      const begin = waiting.shift();
      byKey.delete(key);
      if (waiting.length > 0) byKey.set(key, waiting);
      if (begin) {
        begin();
        return true;
      }
    }
    return false;
  }

  function startTurn(): void {
    begun = 0;
    while (begun < perTurn && beginNext()) begun += 1;
    if (begun > 0) setImmediate(startTurn);
  }

  return {
    async wait(key) {
      if (begun < perTurn && byKey.size === 0) {
        if (begun === 0) setImmediate(startTurn);
        begun += 1;
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting = byKey.get(key);
      if (waiting) waiting.push(resolve);
      else byKey.set(key, [resolve]);
      await promise;
    },
  };
}
