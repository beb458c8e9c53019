import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { openDatabase } from '@ticketing/store/connection/database.ts';
import { mongodbUriRule } from '@ticketing/store/connection/store-config.ts';
import type { Bus } from './bus.ts';
import { embeddedLog } from './embedded-log/embedded-log.ts';
import type { KafkaCredentials } from './kafka-credentials.ts';
import type { KafkaTlsFiles } from './kafka-tls.ts';

/** Which bus a service uses: Kafka, or the log in a MongoDB that all services share. */
export type BusConfig =
  | (KafkaTlsFiles & {
      kind: 'kafka';
      brokers: readonly string[];
      replicas: number;
      prefix: string;
      tls: boolean;
      credentials: KafkaCredentials | undefined;
    })
  | { kind: 'log'; mongodbUri: string; database: string };

const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** Reads which bus a service uses. Exactly one of KAFKA_BROKERS and EVENT_LOG_MONGODB_URI names it. */
export function readBusConfig(from: ConfigReader): BusConfig {
  const brokers = from.optionalText('KAFKA_BROKERS', {
    pattern: /^[^\s,]+:\d+(,[^\s,]+:\d+)*$/,
    meaning: 'host:port,…',
  });
  const replicas = from.integer('KAFKA_REPLICAS', { default: 3, min: 1, max: 10 });
  const prefix =
    from.optionalText('KAFKA_PREFIX', { pattern: /^[\w.-]{1,64}$/, meaning: 'letters, digits, . _ and -' }) ?? '';
  const tls = from.flag('KAFKA_TLS', false);
  const files = readTlsFiles(from, tls);
  const credentials = readCredentials(from);
  const mayBePlaintext = from.flag('KAFKA_ALLOW_PLAINTEXT_CREDENTIALS', false);
  if (credentials && !tls && !mayBePlaintext) {
    const name = credentials.mechanism === 'oauthbearer' ? 'KAFKA_OAUTH_TOKEN_FILE' : 'KAFKA_USERNAME';
    from.refuse(`${name} requires KAFKA_TLS=true, or for tests KAFKA_ALLOW_PLAINTEXT_CREDENTIALS=true.`);
  }
  const mongodbUri = from.optionalText('EVENT_LOG_MONGODB_URI', mongodbUriRule);
  const database = from.text('EVENT_LOG_MONGODB_DATABASE', { default: 'ticketing_events', pattern: /^\w{1,38}$/ });
  if ((brokers === undefined) === (mongodbUri === undefined)) {
    from.refuse('Exactly one of KAFKA_BROKERS and EVENT_LOG_MONGODB_URI must be set.');
  }
  if (brokers !== undefined) {
    return { kind: 'kafka', brokers: brokers.split(','), replicas, prefix, tls, credentials, ...files };
  }
  return { kind: 'log', mongodbUri: mongodbUri ?? '', database };
}

function readCredentials(from: ConfigReader): KafkaCredentials | undefined {
  const username = from.optionalText('KAFKA_USERNAME');
  const password = from.optionalText('KAFKA_PASSWORD');
  const mechanism = from.choice('KAFKA_MECHANISM', mechanisms, 'scram-sha-512');
  if ((username === undefined) !== (password === undefined)) {
    from.refuse('KAFKA_USERNAME and KAFKA_PASSWORD must be set together.');
  }
  const tokenFile = from.optionalText('KAFKA_OAUTH_TOKEN_FILE');
  if (tokenFile !== undefined && username !== undefined) {
    from.refuse('KAFKA_OAUTH_TOKEN_FILE and KAFKA_USERNAME exclude each other.');
  }
  if (tokenFile !== undefined) return { mechanism: 'oauthbearer', tokenFile };
  return username === undefined || password === undefined ? undefined : { mechanism, username, password };
}

function readTlsFiles(from: ConfigReader, tls: boolean): KafkaTlsFiles {
  const caFile = from.optionalText('KAFKA_TLS_CA_FILE');
  const certFile = from.optionalText('KAFKA_TLS_CERT_FILE');
  const keyFile = from.optionalText('KAFKA_TLS_KEY_FILE');
  if (caFile !== undefined && !tls) from.refuse('KAFKA_TLS_CA_FILE needs KAFKA_TLS=true.');
  if (certFile !== undefined && !tls) from.refuse('KAFKA_TLS_CERT_FILE needs KAFKA_TLS=true.');
  if ((certFile === undefined) !== (keyFile === undefined)) {
    from.refuse('KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE must be set together.');
  }
  return { caFile, certFile, keyFile };
}

/** Opens the bus, without waiting for a connection. */
export async function openBus(config: BusConfig, service: string, log: Logger): Promise<Bus> {
  if (config.kind === 'kafka') {
    // Imported only here, because the client takes some MB of memory.
    const { kafkaBus } = await import('./kafka-bus.ts');
    return kafkaBus({ ...config, clientId: `ticketing-${service}`, log });
  }
  const warn = (error: unknown) => log.warn({ err: error }, 'the event log is unreachable');
  // `setUp` of the bus creates the collections.
  const database = openDatabase(config.mongodbUri, config.database, warn, { isSetUpHere: true });
  const bus = embeddedLog(database);
  return {
    ...bus,
    // On one machine, more partitions would only make the batches smaller.
    setUp: (topics) => bus.setUp(topics.map((topic) => ({ ...topic, partitions: Math.min(topic.partitions, 2) }))),
    async close() {
      await bus.close();
      await database.close();
    },
  };
}
