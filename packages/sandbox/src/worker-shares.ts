/** How many workers there are, and which runs are long. */
export interface ShareLimits {
  /**
   * How many workers run at the same time. Each is started when it is first needed. If there are several, one is always
   * left for others than the caller with the most runs, for runs that are not long, and for callers none of whose runs
   * was stopped lately.
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
  /** Remembers a caller with a run that was stopped. */
  suspect(caller: string): void;
  /** Whether one of the caller's runs was stopped lately. */
  isSuspect(caller: string): boolean;
}

/** Limits how long a caller is remembered, and how many callers are. */
export const suspectMs = 60_000;
export const maxSuspects = 1_000;

/**
 * Opens the shares. If there are several workers, neither the runs of one caller, nor all long runs together, nor those of
 * all callers together whose runs were stopped lately have more than all but one of them. So a short run waits only for
 * other short runs, those of one caller leave a worker to the others, and so do several callers who mean harm.
 *
 * Units: `now` in ms, of a clock that never goes back.
 */
export function workerShares(
  { maxWorkers, longRunBytes }: ShareLimits,
  now: () => number = () => performance.now(),
): WorkerShares {
  const share = Math.max(1, maxWorkers - 1);
  const running = new Set<SharedRun>();
  /** Until when callers are suspects, in this order. */
  const suspects = new Map<string, number>();
  const isSuspect = (caller: string) => (suspects.get(caller) ?? Number.NEGATIVE_INFINITY) > now();
  const isLong = ({ bytes }: SharedRun) => bytes > longRunBytes;
  const count = (counts: (run: SharedRun) => boolean) => [...running].filter(counts).length;
  return {
    isFree: (run) =>
      running.size < maxWorkers &&
      count(({ caller }) => caller === run.caller) < share &&
      !(isLong(run) && count(isLong) >= share) &&
      !(isSuspect(run.caller) && count(({ caller }) => isSuspect(caller)) >= share),
    take(run) {
      running.add(run);
      return () => running.delete(run);
    },
    suspect(caller) {
      suspects.delete(caller);
      suspects.set(caller, now() + suspectMs);
      const [oldest] = suspects.keys();
      if (oldest !== undefined && suspects.size > maxSuspects) suspects.delete(oldest);
    },
    isSuspect,
  };
}
