import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** Notifies the readers of a log in this process of appends to its partitions. */
export interface AppendNotices {
  /** Returns the number of notices for a partition so far. Must be read before the partition is read. */
  count(partition: string): number;
  /** Notifies the readers that something was appended to a partition. */
  notify(partition: string): void;
  /** Resolves at the next notice after the count, after `maxMs`, or when the signal aborts. */
  wait(partition: string, counted: number, maxMs: number, signal: AbortSignal): Promise<void>;
  /** Returns the partitions with a waiting reader. */
  awaited(): string[];
  /** Lets one watcher of this process poll for appends: false if another has polled within the given time. */
  claimPoll(watcher: object, withinMs: number): boolean;
}

const noticesOfLog = new Map<string, AppendNotices>();

/**
 * Returns the notices of a log. All services in this process share them, so a service is notified of the appends of another.
 */
export function appendNotices(log: string): AppendNotices {
  const notices = noticesOfLog.get(log) ?? makeNotices();
  noticesOfLog.set(log, notices);
  return notices;
}

function makeNotices(): AppendNotices {
  const events = new EventEmitter().setMaxListeners(0);
  const counts = new Map<string, number>();
  let lastPoll: { watcher: object | undefined; at: number } = { watcher: undefined, at: Number.NEGATIVE_INFINITY };
  return {
    count: (partition) => counts.get(partition) ?? 0,
    notify(partition) {
      counts.set(partition, (counts.get(partition) ?? 0) + 1);
      events.emit(partition);
    },
    async wait(partition, counted, maxMs, signal) {
      if ((counts.get(partition) ?? 0) !== counted) return;
      const done = new AbortController();
      const either = AbortSignal.any([signal, done.signal]);
      const waits = [once(events, partition, { signal: either }), setTimeout(maxMs, undefined, { signal: either })];
      await Promise.race(waits).catch(() => undefined);
      done.abort();
      await Promise.allSettled(waits);
    },
    // A reader that waits also listens to errors.
    awaited: () =>
      events
        .eventNames()
        .map(String)
        .filter((name) => name !== 'error'),
    claimPoll(watcher, withinMs) {
      const now = performance.now();
      if (watcher !== lastPoll.watcher && now - lastPoll.at < withinMs) return false;
      lastPoll = { watcher, at: now };
      return true;
    },
  };
}
