/** A limit on the bytes that a process holds at once for some purpose, in total and for each key. */
export interface ByteBudget {
  /**
   * Takes bytes for a key, for example a caller. Returns the function that gives them back, or undefined if the key or
   * the total is at its limit.
   */
  tryAcquire(key: string, bytes: number): (() => void) | undefined;
  /** The bytes that are taken. */
  used(): number;
}

/** Makes a budget. A key that holds nothing takes no memory. Units: bytes. */
export function byteBudget(limits: { total: number; perKey: number }): ByteBudget {
  const takenByKey = new Map<string, number>();
  let taken = 0;

  function give(key: string, bytes: number): void {
    taken -= bytes;
    const left = (takenByKey.get(key) ?? 0) - bytes;
    if (left > 0) takenByKey.set(key, left);
    else takenByKey.delete(key);
  }

  return {
    tryAcquire(key, bytes) {
      const ofKey = (takenByKey.get(key) ?? 0) + bytes;
      if (taken + bytes > limits.total || ofKey > limits.perKey) return undefined;
      taken += bytes;
      if (ofKey > 0) takenByKey.set(key, ofKey);
      let isHeld = true;
      return () => {
        if (isHeld) give(key, bytes);
        isHeld = false;
      };
    },
    used: () => taken,
  };
}
