import type { Topic } from '@ticketing/contracts/topics.ts';
import type { Kafka } from 'kafkajs';
import { lazyConnection } from './lazy-connection.ts';

/** Partition numbers by topic. The names of the topics include the prefix. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

/**
 * The operations on the brokers other than sending and receiving. Errors of every operation: those of the Kafka client.
 */
export interface KafkaAdmin {
  /** Makes the topics that are missing. */
  setUp(topics: readonly Topic[]): Promise<void>;
  /** How many messages a group has not acknowledged yet, in the given partitions or in all. */
  lag(group: string, topics: readonly string[], assigned?: Assignment): Promise<number>;
  /** Rejects if no broker responds. */
  check(): Promise<void>;
  close(): Promise<void>;
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

  async function lag(group: string, topics: readonly string[], assigned?: Assignment): Promise<number> {
    await connection.open();
    const committed = await admin.fetchOffsets({
      groupId: prefix + group,
      topics: topics.map((topic) => prefix + topic),
    });
    const lags = await Promise.all(
      committed.map(async ({ topic, partitions }) => {
        const bounds = await admin.fetchTopicOffsets(topic);
        const counted = bounds.filter(({ partition }) => !assigned || assigned[topic]?.includes(partition));
        return counted.map(({ partition, low, high }) => {
          const offset = Number(partitions.find((one) => one.partition === partition)?.offset ?? -1);
          // A negative offset: the group has acknowledged nothing in this partition yet.
          return Number(high) - (offset < 0 ? Number(low) : offset);
        });
      }),
    );
    return lags.flat().reduce((sum, count) => sum + count, 0);
  }

  return {
    setUp,
    lag,
    async check() {
      await connection.open();
      await admin.describeCluster();
    },
    close: () => connection.close(),
  };
}
