const everyMs = 60_000;
const maxKinds = 100;

/** How many of a kind were left out since the last that passed, and when that was. Units: ms of the monotonic clock. */
interface PassedKind {
  at: number;
  repeated: number;
}

/**
 * Lets one line of each kind pass in a minute. The function returns how many of the kind were left out since the last one, or
 * undefined if this one is left out too.
 */
export function onceAMinute(now: () => number = () => performance.now()): (kind: string) => number | undefined {
  const passed = new Map<string, PassedKind>();
  return (kind) => {
    const before = passed.get(kind);
    if (before && now() - before.at < everyMs) {
      before.repeated += 1;
      return undefined;
    }
    if (passed.size >= maxKinds) passed.clear();
    passed.set(kind, { at: now(), repeated: 0 });
    return before?.repeated ?? 0;
  };
}
