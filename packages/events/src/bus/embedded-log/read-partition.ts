import { setTimeout } from 'node:timers/promises';
import { type IncomingMessage, retryDelayMs, type Subscription } from '../bus.ts';
import type { AppendNotices } from './append-notices.ts';
import { parsePartitionName } from './chunk-id.ts';
import type { ChunkStore } from './chunk-store.ts';

/** A partition that is read for a consumer group. */
export interface PartitionReading {
  subscription: Subscription;
  partition: string;
  /** The offset of the first message to read. */
  offset: number;
  chunks: ChunkStore;
  notices: AppendNotices;
  /** Stores the consumer offset; returns false if the partition is now assigned to another member. */
  commit(offset: number): Promise<boolean>;
}

/** How long a reader waits for a notice before it reads again. */
const maxWaitMs = 60_000;
/**
 * After a smaller batch the reader pauses, so that messages collect: handling many costs little more than handling one.
 */
const largeBatch = 100;
const gatherMs = 200;

/**
 * Passes the messages of a partition to a subscription, until the signal aborts or another member has the partition.
 */
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
      // The partition is assigned to another member, which continues from the offset that was committed before.
      if (!(await commit(offset))) return;
      failures = 0;
    }
    const pauseMs = !isHandled ? retryDelayMs(failures++) : messages.length < largeBatch ? gatherMs : 0;
    if (pauseMs > 0) await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
