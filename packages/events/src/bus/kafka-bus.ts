import { setTimeout } from 'node:timers/promises';
import type { Topic } from '@ticketing/contracts/topics.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import kafkajs, { type Consumer, type EachBatchPayload, type KafkaMessage, type SASLOptions } from 'kafkajs';
import { batchesOf } from './batches.ts';
import {
  type Bus,
  type IncomingMessage,
  type OutgoingMessage,
  type RunningSubscription,
  retryDelayMs,
  type Subscription,
} from './bus.ts';
import { partitionName } from './partition.ts';

// A CommonJS module, of which Node does not see all names.
const { Kafka, KafkaJSError, logLevel, Partitioners } = kafkajs;

/** Where the brokers are, and what is said of them. */
export interface KafkaOptions {
  brokers: readonly string[];
  clientId: string;
  /** Copies of each message that topics are made with; fewer where there are not as many brokers. */
  replicas?: number;
  /** Stands before the names of topics and groups, so that several systems can share a cluster. */
  prefix?: string;
  tls?: boolean;
  credentials?: KafkaCredentials | undefined;
  /** What the client has to say, by its level. */
  log(level: 'error' | 'warn', message: string): void;
}

/** With what a client proves itself to the brokers (SASL). */
export interface KafkaCredentials {
  mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  username: string;
  password: string;
}

/** A client that gave up while the brokers were away is a new member when they are back, and waits this long for itself. */
const sessionTimeoutMs = 20_000;
const heartbeatMs = 3_000;
/** Brokers refuse requests above a size. */
const maxBatch = { bytes: 1_000_000, messages: 10_000 };
/** UNKNOWN_TOPIC_OR_PARTITION. */
const unknownTopicCode = 3;
/** MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, INVALID_RECORD. */
const refusedCodes = [10, 18, 87];

/**
 * The bus of a cluster: Kafka. Every message is kept by all replicas before `publish` resolves; offsets are committed
 * when messages were acknowledged, by nothing else; topics are made by `setUp` only.
 *
 * Source: guarantees.md section 1, known faults of kafkajs 2.2.4.
 */
export function kafkaBus(options: KafkaOptions): Bus {
  const { brokers, clientId, replicas = 3, prefix = '', tls = false, credentials, log } = options;
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    ssl: tls,
    ...(credentials ? { sasl: credentials as SASLOptions } : {}),
    connectionTimeout: 2_000,
    requestTimeout: 10_000,
    enforceRequestTimeout: true,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 3 },
    logCreator: () => (entry) => {
      if (entry.level <= logLevel.WARN && entry.level > logLevel.NOTHING)
        log(entry.level === logLevel.ERROR ? 'error' : 'warn', entry.log.message);
    },
  });
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  const admin = kafka.admin();
  const running = new Set<RunningSubscription>();
  const producing = connection(producer);
  const administering = connection(admin);

  async function setUp(topics: readonly Topic[]): Promise<void> {
    await administering.open();
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter(({ name }) => !existing.has(prefix + name));
    if (missing.length === 0) return;
    const { brokers: living } = await admin.describeCluster();
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map(({ name, partitions, retentionMs }) => ({
        topic: prefix + name,
        numPartitions: partitions,
        replicationFactor: Math.min(replicas, living.length),
        configEntries: [
          { name: 'cleanup.policy', value: 'delete' },
          { name: 'retention.ms', value: String(retentionMs) },
          { name: 'min.insync.replicas', value: String(Math.max(1, Math.min(replicas, living.length) - 1)) },
        ],
      })),
    });
  }

  async function publish(topic: string, messages: readonly OutgoingMessage[]): Promise<void> {
    await producing.open();
    for (const part of batchesOf(messages, maxBatch)) {
      await producer.send({
        topic: prefix + topic,
        acks: -1,
        messages: part.map(({ key, value, headers }) => ({ key, value: Buffer.from(value), headers })),
      });
    }
  }

  async function subscribe(subscription: Subscription): Promise<RunningSubscription> {
    const stopping = new AbortController();
    const failures = new Map<string, number>();
    /** The partitions of each topic that fell to this consumer; undefined before it has joined. */
    let assigned: Readonly<Record<string, readonly number[]>> | undefined;

    async function join(): Promise<Consumer> {
      const consumer = kafka.consumer({
        groupId: prefix + subscription.group,
        sessionTimeout: sessionTimeoutMs,
        heartbeatInterval: heartbeatMs,
        // Gathers a moment's messages: handling many at a time costs little more than one.
        minBytes: 32_000,
        maxWaitTimeInMs: 100,
        allowAutoTopicCreation: false,
        retry: {
          retries: Number.MAX_SAFE_INTEGER,
          maxRetryTime: 10_000,
          restartOnFailure: async () => !stopping.signal.aborted,
        },
      });
      consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
        assigned = payload.memberAssignment;
      });
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        subscription.onError(payload.error);
        assigned = undefined;
        // What the client does not take for passing ends it; messages wait for it all the same.
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
          eachBatch: (payload) => handleBatch({ ...subscription, prefix }, payload, failures, stopping.signal),
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
    const part: RunningSubscription = {
      lag: () =>
        answered(async () => {
          const mine = assigned;
          return (
            mine &&
            lag(
              subscription.group,
              subscription.topics,
              (topic, partition) => mine[topic]?.includes(partition) ?? false,
            )
          );
        }),
      async stop() {
        running.delete(part);
        stopping.abort();
        const consumer = await joined;
        await consumer.stop();
        await consumer.disconnect();
      },
    };
    running.add(part);
    return part;
  }

  async function lag(
    group: string,
    topics: readonly string[],
    counts: (topic: string, partition: number) => boolean,
  ): Promise<number> {
    await administering.open();
    const reached = await admin.fetchOffsets({
      groupId: prefix + group,
      topics: topics.map((topic) => prefix + topic),
    });
    const lags = await Promise.all(
      reached.map(async ({ topic, partitions }) => {
        const ends = await admin.fetchTopicOffsets(topic);
        const counted = ends.filter(({ partition }) => counts(topic, partition));
        return counted.map(({ partition, low, high }) => {
          const at = Number(partitions.find((place) => place.partition === partition)?.offset ?? -1);
          // Below 0: the group has acknowledged nothing there yet.
          return Number(high) - (at < 0 ? Number(low) : at);
        });
      }),
    );
    return lags.flat().reduce((sum, behind) => sum + behind, 0);
  }

  return {
    setUp: (topics) => answered(() => setUp(topics)),
    publish: (topic, messages) => answered(() => publish(topic, messages)),
    subscribe: (subscription) => answered(() => subscribe(subscription)),
    lag: (group, topics) => answered(() => lag(group, topics, () => true)),
    check: () =>
      answered(async () => {
        await administering.open();
        await admin.describeCluster();
      }),
    async close() {
      await Promise.all([...running].map((part) => part.stop()));
      await producing.close();
      await administering.close();
    },
  };
}

async function handleBatch(
  subscription: Subscription & { prefix: string },
  payload: EachBatchPayload,
  failures: Map<string, number>,
  stopping: AbortSignal,
): Promise<void> {
  const { batch, heartbeat, resolveOffset, isRunning, isStale } = payload;
  const { topic, partition } = batch;
  const place = partitionName(topic, partition);
  const taken = new AbortController();
  const signal = AbortSignal.any([stopping, taken.signal]);
  if (signal.aborted || !isRunning() || isStale()) return;
  let acknowledged: bigint | undefined;
  // A handler may take longer than a session; the group learns that this consumer lives, and it learns of a rebalance.
  const beat = setInterval(() => {
    if (isStale() || !isRunning()) taken.abort();
    else heartbeat().catch(() => taken.abort());
  }, heartbeatMs);
  try {
    const messages = batch.messages.map((message) =>
      incoming(topic.slice(subscription.prefix.length), partition, message),
    );
    const acknowledge = ({ offset }: IncomingMessage) => {
      const next = BigInt(offset);
      if (acknowledged === undefined || next > acknowledged) acknowledged = next;
    };
    await subscription.handle(messages, { acknowledge, signal });
    failures.delete(place);
  } catch (error) {
    subscription.onError(error);
    const count = failures.get(place) ?? 0;
    failures.set(place, count + 1);
    await setTimeout(retryDelayMs(count), undefined, { signal }).catch(() => undefined);
  } finally {
    clearInterval(beat);
  }
  if (acknowledged === undefined) return;
  resolveOffset(String(acknowledged));
  // Not `consumer.commitOffsets`: it does nothing once the consumer is stopping, and hides that the group rebalances.
  const partitions = [{ partition, offset: String(acknowledged + 1n) }];
  await payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions }] });
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

/** Connects a client when it is needed first, and again after it could not. */
function connection(client: { connect(): Promise<void>; disconnect(): Promise<void> }) {
  let opening: Promise<void> | undefined;
  return {
    open(): Promise<void> {
      opening ??= client.connect().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    async close(): Promise<void> {
      if (opening) await client.disconnect();
    },
  };
}

/** What the client throws, told as what it means. */
async function answered<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (hasCode(error, unknownTopicCode)) {
      throw new DomainError('not_found', 'unknown_topic', 'There is no such topic.', { cause: error });
    }
    const refused = refusedCodes.find((code) => hasCode(error, code));
    if (refused !== undefined) {
      throw new DomainError('failed_precondition', 'message_refused', 'The bus refuses a message.', { cause: error });
    }
    if (error instanceof KafkaJSError) {
      throw new DomainError('unavailable', 'bus_unavailable', 'The bus does not answer.', { cause: error });
    }
    throw error;
  }
}

function hasCode(error: unknown, code: number): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && error.code === code) return true;
  return 'cause' in error && hasCode(error.cause, code);
}
