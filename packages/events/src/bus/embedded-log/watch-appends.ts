import { startWakefulLoop, type WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { AppendNotices } from './append-notices.ts';
import { parsePartitionName } from './chunk-id.ts';
import type { ChunkStore } from './chunk-store.ts';

/** How often it looks for what other processes have appended: while they do, and at least. */
const pollMs = { busy: 100, idle: 1_500 };

/**
 * Looks for what other processes append, by one small read for all partitions that are waited for, and notifies of it. Of
 * several watchers of a log in one process only one looks at a time.
 */
export function watchAppends(chunks: ChunkStore, notices: AppendNotices): WakefulLoop {
  /** The last chunk that was seen of each partition. */
  const seen = new Map<string, number>();

  async function look(): Promise<boolean> {
    const awaited = notices.awaited();
    if (awaited.length === 0 || !notices.claimLook(seen, 2 * pollMs.idle)) return false;
    for (const name of awaited.filter((one) => !seen.has(one))) {
      const { topic, partition } = parsePartitionName(name);
      seen.set(name, await chunks.lastSequence(topic, partition));
      notices.notify(name);
    }
    const appended = await chunks.appendedBehind(new Map(awaited.map((name) => [name, seen.get(name) ?? 0])));
    for (const [name, sequence] of appended) {
      seen.set(name, sequence);
      notices.notify(name);
    }
    return appended.size > 0;
  }

  return startWakefulLoop({
    pollMs,
    run: async () => ((await look()) ? 'done' : 'nothing'),
    // The readers report what fails.
    onError: () => pollMs.idle,
  });
}
