import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** What the readers of a log in this process learn of appends to its partitions. */
export interface AppendNotices {
  /** How many appends to a partition are known of; to be read before the partition is. */
  count(partition: string): number;
  /** Says that something was appended to a partition. */
  notify(partition: string): void;
  /** Resolves when something has been appended since the count, when the time is over, or when the signal aborts. */
  wait(partition: string, counted: number, maxMs: number, signal: AbortSignal): Promise<void>;
  /** The partitions that somebody waits for. */
  awaited(): string[];
}

const noticesOfLog = new Map<string, AppendNotices>();

/** The notices of a log, which all who use it in this process share: a reader of one service hears the writes of another. */
export function appendNotices(log: string): AppendNotices {
  const notices = noticesOfLog.get(log) ?? makeNotices();
  noticesOfLog.set(log, notices);
  return notices;
}

function makeNotices(): AppendNotices {
  const events = new EventEmitter().setMaxListeners(0);
  const counts = new Map<string, number>();
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
    awaited: () => events.eventNames().map(String),
  };
}
