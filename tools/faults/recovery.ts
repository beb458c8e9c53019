/** Measures how long after a fault the first change is acknowledged that was sent after it. */
export interface Recoveries {
  /** Records that a fault has happened. */
  begin(what: string): void;
  /** Records that a change was acknowledged; `sentAt` is a time of `performance.now()`. */
  acknowledged(sentAt: number): void;
  /** The median and the longest duration of each kind of fault. */
  durations(): { what: string; count: number; medianMs: number; longestMs: number }[];
}

/** Starts measuring; `now` is a monotonic clock in ms. */
export function measureRecoveries(now: () => number = () => performance.now()): Recoveries {
  let waiting: { what: string; since: number }[] = [];
  const done = new Map<string, number[]>();
  return {
    begin: (what) => void waiting.push({ what, since: now() }),
    acknowledged(sentAt) {
      if (waiting.length === 0) return;
      for (const { what, since } of waiting.filter((one) => one.since < sentAt)) {
        done.set(what, [...(done.get(what) ?? []), now() - since]);
      }
      waiting = waiting.filter(({ since }) => since >= sentAt);
    },
    durations: () =>
      [...done].map(([what, all]) => {
        const sorted = all.toSorted((left, right) => left - right);
        const medianMs = sorted[Math.floor(sorted.length / 2)] ?? 0;
        return { what, count: sorted.length, medianMs, longestMs: sorted.at(-1) ?? 0 };
      }),
  };
}
