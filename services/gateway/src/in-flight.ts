/** Counts what is under way by key. */
export interface InFlight {
  /** Takes a place, unless all are taken; answers how to give it back. */
  enter(key: string, places: number): (() => void) | undefined;
}

/** Makes a counter. It keeps nothing of a key with nothing under way. */
export function inFlight(): InFlight {
  const taken = new Map<string, number>();
  return {
    enter(key, places) {
      const count = taken.get(key) ?? 0;
      if (count >= places) return undefined;
      taken.set(key, count + 1);
      return () => {
        const left = (taken.get(key) ?? 1) - 1;
        if (left > 0) taken.set(key, left);
        else taken.delete(key);
      };
    },
  };
}
