import { startWakefulLoop, type WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { AppendNotices } from './append-notices.ts';
import { parsePartitionName } from './chunk-id.ts';
import type { ChunkStore } from './chunk-store.ts';

/**
 * The pause between two polls for appends of other processes: after one that found some, and after one that did not.
 */
const pollMs = { busy: 100, idle: 1_500 };

/**
 * Polls for appends of other processes, by one small read for all partitions with a waiting reader, and notifies the
 * readers. If a process has several watchers of a log, only one of them polls.
 */
export function watchAppends(chunks: ChunkStore, notices: AppendNotices): WakefulLoop {
  /** The number of the last known chunk of each partition. */
  const seen = new Map<string, number>();

  async function poll(): Promise<boolean> {
    const awaited = notices.awaited();
    if (awaited.length === 0 || !notices.claimPoll(seen, 2 * pollMs.idle)) return false;
    for (const name of awaited.filter((one) => !seen.has(one))) {
      const { topic, partition } = parsePartitionName(name);
      seen.set(name, await chunks.lastSequence(topic, partition));
      notices.notify(name);
    }
    const appended = await chunks.appendedAfter(new Map(awaited.map((name) => [name, seen.get(name) ?? 0])));
    for (const [name, sequence] of appended) {
      seen.set(name, sequence);
      notices.notify(name);
    }
    return appended.size > 0;
  }

  return startWakefulLoop({
    pollMs,
    run: async () => ((await poll()) ? 'done' : 'nothing'),
    // The readers report errors of the store.
    onError: () => pollMs.idle,
  });
}
