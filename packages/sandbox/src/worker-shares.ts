/** How many workers there are, and which runs are long. */
export interface ShareLimits {
  /**
   * How many workers run at the same time. Each is started when it is first needed. If there are several, one is always
   * left for others than the caller with the most runs, and for runs that are not long.
   */
  maxWorkers: number;
  /** A run whose arguments have more texts than this, in UTF-8, is a long one. */
  longRunBytes: number;
}

/** A run, as far as its share of the workers depends on it. Units: the bytes of its arguments. */
export interface SharedRun {
  caller: string;
  bytes: number;
}

/** How the workers of a sandbox are shared: a run is never interrupted, so one worker must be left for others. */
export interface WorkerShares {
  /** Whether a run may have a worker now. */
  isFree(run: SharedRun): boolean;
  /** Takes a worker for a run. Returns the function that gives it back. */
  take(run: SharedRun): () => void;
}

/**
 * Opens the shares. If there are several workers, neither the runs of one caller nor all long runs together have more than
 * all but one of them. A short run waits only for other short runs, and those of one caller leave a worker to the others.
 */
export function workerShares({ maxWorkers, longRunBytes }: ShareLimits): WorkerShares {
  const share = Math.max(1, maxWorkers - 1);
  const running = new Set<SharedRun>();
  const isLong = ({ bytes }: SharedRun) => bytes > longRunBytes;
  const count = (counts: (run: SharedRun) => boolean) => [...running].filter(counts).length;
  return {
    isFree: (run) =>
      running.size < maxWorkers &&
      count(({ caller }) => caller === run.caller) < share &&
      !(isLong(run) && count(isLong) >= share),
    take(run) {
      running.add(run);
      return () => running.delete(run);
    },
  };
}
