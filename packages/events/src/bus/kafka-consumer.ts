import { setTimeout } from 'node:timers/promises';
import type { Consumer, Kafka } from 'kafkajs';
import { retryDelayMs, type Subscription } from './bus.ts';
import type { Assignment } from './kafka-admin.ts';
import { type BatchContext, handleBatch, heartbeatMs } from './kafka-batch.ts';

/** A member of a consumer group. */
export interface GroupMember {
  /** Returns the partitions that are assigned to this member; undefined while it has not joined. */
  assignment(): Assignment | undefined;
  /** Resolves when no batch is being handled any more and the member has left the group. */
  stop(): Promise<void>;
}

/**
 * How long the group waits for a member that sends no heartbeats. A client that gave up while the brokers were
 * unavailable rejoins as a new member, and must wait until the group has removed the old one.
 */
const sessionTimeoutMs = 20_000;

/** Joins a consumer group, and joins it again whenever the Kafka client has given up. */
export async function joinGroup(kafka: Kafka, subscription: Subscription, prefix: string): Promise<GroupMember> {
  const stopping = new AbortController();
  const batches: BatchContext = { subscription, prefix, failures: new Map(), stopping: stopping.signal };
  let assignment: Assignment | undefined;

  async function join(): Promise<Consumer> {
    const consumer = makeConsumer(kafka, prefix + subscription.group, stopping.signal);
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      assignment = payload.memberAssignment;
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      subscription.onError(payload.error);
      assignment = undefined;
      // The client does not restart after an error that it does not regard as transient; messages would wait for ever.
      if (!payload.restart) joined = joined.then(() => rejoin(consumer));
    });
    try {
      await consumer.connect();
      const topics = subscription.topics.map((topic) => prefix + topic);
      await consumer.subscribe({ topics, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 8,
        eachBatch: (payload) => handleBatch(batches, payload),
      });
    } catch (error) {
      await consumer.disconnect().catch(() => undefined);
      throw error;
    }
    return consumer;
  }

  async function rejoin(crashed: Consumer): Promise<Consumer> {
    await crashed.disconnect().catch(() => undefined);
    for (let count = 0; !stopping.signal.aborted; count++) {
      await setTimeout(retryDelayMs(count), undefined, { signal: stopping.signal }).catch(() => undefined);
      try {
        return await join();
      } catch (error) {
        subscription.onError(error);
      }
    }
    return crashed;
  }

  let joined = Promise.resolve(await join());
  return {
    assignment: () => assignment,
    async stop() {
      stopping.abort();
      const consumer = await joined;
      await consumer.stop();
      await consumer.disconnect();
    },
  };
}

function makeConsumer(kafka: Kafka, groupId: string, stopping: AbortSignal): Consumer {
  return kafka.consumer({
    groupId,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: heartbeatMs,
    // Brokers wait a moment for more messages: handling many together costs little more than handling one.
    minBytes: 32_000,
    maxWaitTimeInMs: 100,
    allowAutoTopicCreation: false,
    retry: {
      retries: Number.MAX_SAFE_INTEGER,
      maxRetryTime: 10_000,
      restartOnFailure: async () => !stopping.aborted,
    },
  });
}
