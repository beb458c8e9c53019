import type { Topic } from '@ticketing/contracts/topics.ts';
import type { Kafka } from 'kafkajs';
import { latestBefore } from './latest-before.ts';
import { lazyConnection } from './lazy-connection.ts';

/** Partition numbers by topic. The names of the topics include the prefix. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

/**
 * The operations on the brokers other than sending and receiving. Errors of every operation: those of the Kafka client.
 */
export interface KafkaAdmin {
  /** Makes the topics that are missing. */
  setUp(topics: readonly Topic[]): Promise<void>;
  /** Returns how many messages a group has not acknowledged yet, in the given partitions or in all. */
  lag(group: string, topics: readonly string[], assigned?: Assignment): Promise<number>;
  /** Returns when the oldest message that a group has not acknowledged yet was published; undefined if there is none. */
  oldestPending(group: string, topics: readonly string[]): Promise<number | undefined>;
  /** Rejects if no broker responds. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The offsets of a partition: the next one that a group acknowledges, and the one after its last message. */
interface PendingPartition {
  topic: string;
  partition: number;
  next: number;
  end: number;
}

/** Makes the admin client of a cluster; it connects when it is first used. */
export function kafkaAdmin(kafka: Kafka, { prefix, replicas }: { prefix: string; replicas: number }): KafkaAdmin {
  const admin = kafka.admin();
  const connection = lazyConnection(admin);

  async function setUp(topics: readonly Topic[]): Promise<void> {
    await connection.open();
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter(({ name }) => !existing.has(prefix + name));
    if (missing.length === 0) return;
    const { brokers } = await admin.describeCluster();
    const copies = Math.min(replicas, brokers.length);
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map(({ name, partitions, retentionMs }) => ({
        topic: prefix + name,
        numPartitions: partitions,
        replicationFactor: copies,
        configEntries: [
          { name: 'cleanup.policy', value: 'delete' },
          { name: 'retention.ms', value: String(retentionMs) },
          { name: 'min.insync.replicas', value: String(Math.max(1, copies - 1)) },
        ],
      })),
    });
  }

  /** Returns the partitions of topics that have messages which a group has not acknowledged yet. */
  async function pendingPartitions(group: string, topics: readonly string[]): Promise<PendingPartition[]> {
    await connection.open();
    const committed = await admin.fetchOffsets({
      groupId: prefix + group,
      topics: topics.map((topic) => prefix + topic),
    });
    const pending = await Promise.all(
      committed.map(async ({ topic, partitions }) => {
        const bounds = await admin.fetchTopicOffsets(topic);
        return bounds.map(({ partition, low, high }) => {
          const offset = Number(partitions.find((one) => one.partition === partition)?.offset ?? -1);
          // The group has acknowledged nothing in this partition yet, or its next message was removed.
          return { topic, partition, next: Math.max(Number(low), offset), end: Number(high) };
        });
      }),
    );
    return pending.flat().filter(({ next, end }) => next < end);
  }

  async function lag(group: string, topics: readonly string[], assigned?: Assignment): Promise<number> {
    const pending = await pendingPartitions(group, topics);
    const counted = pending.filter(({ topic, partition }) => !assigned || assigned[topic]?.includes(partition));
    return counted.reduce((sum, { next, end }) => sum + end - next, 0);
  }

  async function oldestPending(group: string, topics: readonly string[]): Promise<number | undefined> {
    const byTopic = Map.groupBy(await pendingPartitions(group, topics), ({ topic }) => topic);
    const times = await Promise.all(
      [...byTopic].map(([topic, pending]) =>
        latestBefore(async (time) => {
          const reached = await admin.fetchTopicOffsetsByTimestamp(topic, time);
          return pending.every(({ partition, next }) =>
            reached.some((one) => one.partition === partition && Number(one.offset) <= next),
          );
        }),
      ),
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  return {
    setUp,
    lag,
    oldestPending,
    async check() {
      await connection.open();
      await admin.describeCluster();
    },
    close: () => connection.close(),
  };
}
