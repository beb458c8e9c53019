/** Measures how long it takes after a fault until a change is acknowledged that was sent later. */
export interface Recoveries {
  /** A fault has happened. */
  begin(what: string): void;
  /** A change was acknowledged; `sentAt` is a time of `performance.now()`. */
  acknowledged(sentAt: number): void;
  /** The longest and the middle one of each kind of fault, in ms. */
  times(): { what: string; count: number; middleMs: number; longestMs: number }[];
}

/** Starts with none. */
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
    times: () =>
      [...done].map(([what, all]) => {
        const sorted = all.toSorted((left, right) => left - right);
        const middleMs = sorted[Math.floor(sorted.length / 2)] ?? 0;
        return { what, count: sorted.length, middleMs, longestMs: sorted.at(-1) ?? 0 };
      }),
  };
}
