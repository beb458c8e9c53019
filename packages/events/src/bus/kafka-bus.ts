import type { Logger } from '@ticketing/runtime/logger.ts';
import kafkajs, { type Kafka as KafkaClient } from 'kafkajs';
import { toBatches } from './batches.ts';
import type { Bus, OutgoingMessage, RunningSubscription, Subscription } from './bus.ts';
import { kafkaAdmin } from './kafka-admin.ts';
import { joinGroup } from './kafka-consumer.ts';
import { type KafkaCredentials, kafkaSasl } from './kafka-credentials.ts';
import { translateKafkaErrors } from './kafka-error.ts';
import { kafkaLog } from './kafka-log.ts';
import { type KafkaTlsFiles, kafkaTls } from './kafka-tls.ts';
import { lazyConnection } from './lazy-connection.ts';

// A CommonJS module; Node does not find these names in it as named exports.
const { Kafka, Partitioners } = kafkajs;

/** Which cluster to use, and how. */
export interface KafkaOptions extends KafkaTlsFiles {
  brokers: readonly string[];
  clientId: string;
  /** How many copies of each message a new topic keeps; fewer if there are fewer brokers. */
  replicas?: number;
  /** The prefix of the names of topics and groups, so that several systems can share a cluster. */
  prefix?: string;
  tls?: boolean;
  credentials?: KafkaCredentials | undefined;
  /** Gets the errors and warnings of the Kafka client. */
  log: Pick<Logger, 'warn'>;
}

/** Brokers refuse a request that is too large. */
const maxBatch = { bytes: 1_000_000, messages: 10_000 };

/**
 * Returns the bus on a Kafka cluster. `publish` resolves when all replicas have stored the messages. Offsets are
 * committed only for messages that were acknowledged. Only `setUp` makes topics.
 *
 * Errors: a ConfigError for a file of the configuration that cannot be used.
 * Source: docs/reference/guarantees.md, Events.
 */
export function kafkaBus(options: KafkaOptions): Bus {
  const { replicas = 3, prefix = '' } = options;
  const kafka = openClient(options);
  const admin = kafkaAdmin(kafka, { prefix, replicas });
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  const producing = lazyConnection(producer);
  const running = new Set<RunningSubscription>();

  async function publish(topic: string, messages: readonly OutgoingMessage[]): Promise<void> {
    await producing.open();
    for (const part of toBatches(messages, maxBatch)) {
      await producer.send({
        topic: prefix + topic,
        acks: -1,
        messages: part.map(({ key, value, headers }) => ({ key, value: Buffer.from(value), headers })),
      });
    }
  }

  async function subscribe(subscription: Subscription): Promise<RunningSubscription> {
    const { group, topics } = subscription;
    const member = await joinGroup(kafka, subscription, prefix);
    const started: RunningSubscription = {
      lag: () =>
        translateKafkaErrors(async () => {
          const assignment = member.assignment();
          return assignment && admin.lag(group, topics, assignment);
        }),
      async stop() {
        running.delete(started);
        await member.stop();
      },
    };
    running.add(started);
    return started;
  }

  return {
    setUp: (topics) => translateKafkaErrors(() => admin.setUp(topics)),
    publish: (topic, messages) => translateKafkaErrors(() => publish(topic, messages)),
    subscribe: (subscription) => translateKafkaErrors(() => subscribe(subscription)),
    lag: (group, topics) => translateKafkaErrors(() => admin.lag(group, topics)),
    oldestPending: (group, topics) => translateKafkaErrors(() => admin.oldestPending(group, topics)),
    check: () => translateKafkaErrors(() => admin.check()),
    async close() {
      await Promise.all([...running].map((subscription) => subscription.stop()));
      await producing.close();
      await admin.close();
    },
  };
}

function openClient({ brokers, clientId, tls = false, credentials, log, ...files }: KafkaOptions): KafkaClient {
  return new Kafka({
    brokers: [...brokers],
    clientId,
    ssl: tls && kafkaTls(files),
    ...(credentials ? { sasl: kafkaSasl(credentials) } : {}),
    connectionTimeout: 2_000,
    requestTimeout: 10_000,
    enforceRequestTimeout: true,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 3 },
    logCreator: kafkaLog(log),
  });
}
