import type { Topic } from '@ticketing/contracts/topics.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { inTime } from '@ticketing/runtime/in-time.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { isUnreachable } from '@ticketing/store/document/store-error.ts';
import type { Leased } from '@ticketing/store/leases/lease.ts';
import { joinLeaseGroup, type LeaseGroupMember, type LeaseGroupTimes } from '@ticketing/store/leases/lease-group.ts';
import type { Bus, OutgoingMessage, RunningSubscription, Subscription } from '../bus.ts';
import { choosePartition, partitionName } from '../partition.ts';
import { appendNotices } from './append-notices.ts';
import { parsePartitionName } from './chunk-id.ts';
import { openChunkStore } from './chunk-store.ts';
import { readPartition } from './read-partition.ts';
import { watchAppends } from './watch-appends.ts';

interface TopicDocument {
  _id: string;
  partitions: number;
  retentionMs: number;
}

/**
 * The consumer offset of a group in a partition, and the member that reads it. The id is the group and the partition.
 */
interface ConsumerOffsetDocument extends Leased {
  /** The offset of the next message. */
  offset: number;
}

const offsetCollection = 'logConsumerOffsets';
const removeOldEveryMs = 60_000;
const openTimeoutMs = 5_000;

/**
 * Returns the bus of one machine: a log that is kept in the store. The members of a group share its partitions evenly, by
 * leases. A member that has lost a lease cannot commit offsets of the partition.
 */
export function embeddedLog(
  database: Pick<Database, 'connection' | 'opened' | 'id'>,
  leaseTimes?: LeaseGroupTimes,
): Bus {
  const { connection, opened } = database;
  const topics = openCollection<TopicDocument>(connection, 'logTopics');
  const offsets = openCollection<ConsumerOffsetDocument>(connection, offsetCollection);
  const notices = appendNotices(database.id);
  const chunks = openChunkStore(connection, notices.notify);
  let watching: WakefulLoop | undefined;
  const partitionsOfTopic = new Map<string, number>();
  const oldRemovedAt = new Map<string, number>();
  const running = new Set<RunningSubscription>();

  async function partitionCount(topic: string): Promise<number> {
    const count = partitionsOfTopic.get(topic) ?? (await topics.findOne({ _id: topic }))?.partitions;
    if (count === undefined) throw new DomainError('unavailable', 'unknown_topic', `There is no topic ${topic}.`);
    partitionsOfTopic.set(topic, count);
    return count;
  }

  async function partitionNames(names: readonly string[]): Promise<string[]> {
    const counts = await Promise.all(names.map(partitionCount));
    return names.flatMap((topic, index) =>
      Array.from({ length: counts[index] ?? 0 }, (_, partition) => partitionName(topic, partition)),
    );
  }

  async function subscribe(subscription: Subscription): Promise<RunningSubscription> {
    const { group, onError } = subscription;
    watching ??= watchAppends(chunks, notices);
    const member = joinLeaseGroup<ConsumerOffsetDocument>(database, {
      collection: offsetCollection,
      group,
      parts: await partitionNames(subscription.topics),
      initial: { offset: 0 },
      work(partition, { _id, offset, lease }, signal) {
        const commit = async (next: number) => {
          const isOwned = { _id, 'lease.owner': lease.owner };
          return (await offsets.updateOne(isOwned, { $set: { offset: next } })).matchedCount === 1;
        };
        return readPartition({ subscription, partition, offset, chunks, notices, commit }, signal);
      },
      onError,
      times: leaseTimes,
    });
    const readLag = memberLag(group, member);
    const started: RunningSubscription = {
      lag: () => translateUnreachable(readLag),
      async stop() {
        running.delete(started);
        await member.stop();
      },
    };
    running.add(started);
    return started;
  }

  async function publish(topic: string, messages: readonly OutgoingMessage[]): Promise<void> {
    const count = await partitionCount(topic);
    const byPartition = Map.groupBy(messages, ({ key }) => choosePartition(key, count));
    await Promise.all([...byPartition].map(([partition, part]) => chunks.append(topic, partition, part)));
    if ((oldRemovedAt.get(topic) ?? Number.NEGATIVE_INFINITY) > performance.now() - removeOldEveryMs) return;
    oldRemovedAt.set(topic, performance.now());
    // The publisher does not wait for it. After an error, a later publisher tries again.
    removeOld(topic).catch(() => undefined);
  }

  async function removeOld(topic: string): Promise<void> {
    const document = await topics.findOne({ _id: topic });
    if (!document) return;
    const before = new Date(Date.now() - document.retentionMs);
    for (let partition = 0; partition < document.partitions; partition++) {
      await chunks.removeOlder(topic, partition, before);
    }
  }

  async function lag(group: string, partitions: readonly string[]): Promise<number> {
    const lags = await Promise.all(partitions.map((name) => readTopicLag(group, name)));
    return lags.reduce((sum, count) => sum + count, 0);
  }

  async function committedOffset(group: string, name: string): Promise<number> {
    const reached = await offsets.findOne({ _id: `${group}/${name}` });
    return reached?.offset ?? 0;
  }

  async function readTopicLag(group: string, name: string): Promise<number> {
    const { topic, partition } = parsePartitionName(name);
    return chunks.count(topic, partition, await committedOffset(group, name));
  }

  async function oldestPending(group: string, partitions: readonly string[]): Promise<number | undefined> {
    const times = await Promise.all(
      partitions.map(async (name) => {
        const { topic, partition } = parsePartitionName(name);
        return chunks.appendedAt(topic, partition, await committedOffset(group, name));
      }),
    );
    const known = times.filter((time) => time !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  /**
   * Returns the lag of the partitions that a member reads. If it was 0 and there was no append since, it is not read
   * again.
   */
  function memberLag(group: string, member: Pick<LeaseGroupMember, 'ownedParts'>): () => Promise<number> {
    const handledAt = new Map<string, number>();
    return async () => {
      const lags = await Promise.all(
        member.ownedParts().map(async (name) => {
          const counted = notices.count(name);
          if (handledAt.get(name) === counted) return 0;
          const count = await readTopicLag(group, name);
          if (count === 0) handledAt.set(name, counted);
          return count;
        }),
      );
      return lags.reduce((sum, count) => sum + count, 0);
    };
  }

  async function setUp(wanted: readonly Topic[]): Promise<void> {
    for (const { name, partitions, retentionMs } of wanted) {
      const change = { $set: { retentionMs }, $setOnInsert: { partitions } };
      await topics.updateOne({ _id: name }, change, { upsert: true });
    }
  }

  /** Waits for the first connection to the store, and translates errors of an unreachable store to bus_unavailable. */
  async function translateUnreachable<Result>(work: () => Promise<Result>): Promise<Result> {
    if ((await inTime(opened, openTimeoutMs)) === 'late') {
      throw new DomainError('unavailable', 'bus_unavailable', 'The bus was never reached.');
    }
    try {
      return await work();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      throw new DomainError('unavailable', 'bus_unavailable', 'The bus is unavailable.', { cause: error });
    }
  }

  return {
    setUp: (wanted) => translateUnreachable(() => setUp(wanted)),
    publish: (topic, messages) => translateUnreachable(() => publish(topic, messages)),
    subscribe: (subscription) => translateUnreachable(() => subscribe(subscription)),
    lag: (group, names) => translateUnreachable(async () => lag(group, await partitionNames(names))),
    oldestPending: (group, names) =>
      translateUnreachable(async () => oldestPending(group, await partitionNames(names))),
    check: () => translateUnreachable(async () => void (await topics.findOne({}))),
    async close() {
      await Promise.all([...running].map((subscription) => subscription.stop()));
      await watching?.stop();
    },
  };
}
