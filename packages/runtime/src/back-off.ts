/** The waits after failures in a row: the first one, the longest one, and how much longer each is than the one before it. */
export interface BackOff {
  firstMs: number;
  longestMs: number;
  /** 2 by default. */
  factor?: number;
}

/** Returns how long to wait, in ms, if an attempt failed that had `failures` failures in a row before it. */
export function backOffMs(failures: number, { firstMs, longestMs, factor = 2 }: BackOff): number {
  return Math.min(longestMs, firstMs * factor ** failures);
}

/** Changes a wait by up to a fifth, so that processes that failed together do not try again together. */
export function withJitter(ms: number, random: () => number = Math.random): number {
  return ms * (0.8 + random() * 0.4);
}
