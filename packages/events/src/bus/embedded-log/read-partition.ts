import { setTimeout } from 'node:timers/promises';
import { type IncomingMessage, retryDelayMs, type Subscription } from '../bus.ts';
import type { AppendNotices } from './append-notices.ts';
import { parsePartitionName } from './chunk-id.ts';
import type { ChunkStore } from './chunk-store.ts';

/** A partition that is read for a group. */
export interface PartitionReading {
  subscription: Subscription;
  partition: string;
  /** Where the reading begins. */
  offset: number;
  chunks: ChunkStore;
  notices: AppendNotices;
  /** Keeps how far the group has come; returns false if another member reads the partition now. */
  commit(offset: number): Promise<boolean>;
}

/** How long a reader waits for a notice before it looks by itself. */
const maxWaitMs = 60_000;
/** After fewer messages than this, more are gathered for a moment: handling many at a time costs little more than one. */
const largeBatch = 100;
const gatherMs = 200;

/** Hands the messages of a partition to a subscription, from an offset on, until the signal aborts or another reads it. */
export async function readPartition(reading: PartitionReading, signal: AbortSignal): Promise<void> {
  const { subscription, chunks, notices, commit } = reading;
  const { topic, partition } = parsePartitionName(reading.partition);
  let { offset } = reading;
  let failures = 0;
  while (!signal.aborted) {
    const counted = notices.count(reading.partition);
    const messages = await chunks.read(topic, partition, offset);
    if (messages.length === 0) {
      await notices.wait(reading.partition, counted, maxWaitMs, signal);
      continue;
    }
    const before = offset;
    const acknowledge = (message: IncomingMessage) => {
      offset = Math.max(offset, Number(message.offset) + 1);
    };
    const isHandled = await subscription.handle(messages, { acknowledge, signal }).then(
      () => true,
      (error: unknown) => {
        subscription.onError(error);
        return false;
      },
    );
    if (offset > before) {
      // Another has the partition now, and reads on from what was committed before.
      if (!(await commit(offset))) return;
      failures = 0;
    }
    const pauseMs = !isHandled ? retryDelayMs(failures++) : messages.length < largeBatch ? gatherMs : 0;
    if (pauseMs > 0) await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
