import { setTimeout } from 'node:timers/promises';
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import { type Delivery, type IncomingMessage, retryDelayMs, type Subscription } from './bus.ts';
import { partitionName } from './partition.ts';

/** How often a consumer reports to its group that it is alive. */
export const heartbeatMs = 3_000;

/** The state that the batches of one subscription share. */
export interface BatchContext {
  subscription: Subscription;
  /** The prefix of the names of topics. */
  prefix: string;
  /** How often in a row the handler has failed, by partition. */
  failures: Map<string, number>;
  stopping: AbortSignal;
}

/** Passes a batch to the subscription, and commits the offset of the last message that was acknowledged. */
export async function handleBatch(context: BatchContext, payload: EachBatchPayload): Promise<void> {
  const { topic, partition } = payload.batch;
  const revoked = new AbortController();
  const signal = AbortSignal.any([context.stopping, revoked.signal]);
  if (signal.aborted || isRevoked(payload)) return;
  let acknowledged: bigint | undefined;
  const acknowledge = ({ offset }: IncomingMessage) => {
    const next = BigInt(offset);
    if (acknowledged === undefined || next > acknowledged) acknowledged = next;
  };
  const stopHeartbeat = keepAlive(payload, revoked);
  try {
    await handleOrWait(context, payload, { acknowledge, signal });
  } finally {
    stopHeartbeat();
  }
  if (acknowledged === undefined) return;
  payload.resolveOffset(String(acknowledged));
  // Not `consumer.commitOffsets`: it does nothing once the consumer is stopping, and hides that the group rebalances.
  const partitions = [{ partition, offset: String(acknowledged + 1n) }];
  await payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions }] });
}

/** Calls the handler. After an error it waits, longer each time, before Kafka delivers the messages again. */
async function handleOrWait(
  { subscription, prefix, failures }: BatchContext,
  { batch: { topic, partition, messages } }: EachBatchPayload,
  delivery: Delivery,
): Promise<void> {
  const name = partitionName(topic, partition);
  try {
    const received = messages.map((message) => incoming(topic.slice(prefix.length), partition, message));
    await subscription.handle(received, delivery);
    failures.delete(name);
  } catch (error) {
    subscription.onError(error);
    const count = failures.get(name) ?? 0;
    failures.set(name, count + 1);
    await setTimeout(retryDelayMs(count), undefined, { signal: delivery.signal }).catch(() => undefined);
  }
}

/**
 * Sends heartbeats while a handler works, which may take longer than a session; aborts `revoked` when the partition has
 * been assigned to another consumer. Returns the function that ends it.
 */
function keepAlive(payload: EachBatchPayload, revoked: AbortController): () => void {
  const timer = setInterval(() => {
    if (isRevoked(payload)) revoked.abort();
    else payload.heartbeat().catch(() => revoked.abort());
  }, heartbeatMs);
  return () => clearInterval(timer);
}

function isRevoked({ isRunning, isStale }: EachBatchPayload): boolean {
  return !isRunning() || isStale();
}

function incoming(topic: string, partition: number, message: KafkaMessage): IncomingMessage {
  const headers = Object.entries(message.headers ?? {}).map(([name, value]) => [name, String([value].flat()[0])]);
  return {
    topic,
    partition,
    offset: message.offset,
    key: String(message.key),
    value: message.value ?? new Uint8Array(),
    headers: Object.fromEntries(headers),
  };
}
