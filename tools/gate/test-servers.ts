import { freePort } from '@ticketing/testkit/free-port.ts';
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';

const mongoImage = process.env.TICKETING_TEST_MONGO_IMAGE ?? 'mongo:8.0';
const kafkaImage = process.env.TICKETING_TEST_KAFKA_IMAGE ?? 'apache/kafka:4.1.0';
const mongoPort = 27_017;
const kafkaPort = 9092;
const startupTimeoutMs = 120_000;

/** A database server and a broker for tests. */
export interface TestServers {
  variables: { MONGODB_URI: string; KAFKA_BROKERS: string };
  stop(): Promise<void>;
}

/**
 * Opens the servers that MONGODB_URI and KAFKA_BROKERS name, and starts containers for those that are not named. Says what is
 * missing if one is not named and there is no container engine.
 */
export async function openTestServers(
  env: NodeJS.ProcessEnv = process.env,
): Promise<TestServers | { missing: string }> {
  const isComplete = Boolean(env.MONGODB_URI && env.KAFKA_BROKERS);
  const missing = isComplete ? undefined : await findMissing();
  if (missing !== undefined) return { missing };
  const containers: StartedTestContainer[] = [];
  const stop = async () => {
    await Promise.all(containers.map((container) => container.stop()));
  };
  try {
    return {
      variables: {
        MONGODB_URI: env.MONGODB_URI || (await startMongo(containers)),
        KAFKA_BROKERS: env.KAFKA_BROKERS || (await startKafka(containers)),
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function findMissing(): Promise<string | undefined> {
  return getContainerRuntimeClient().then(
    () => undefined,
    (error: Error) => `MONGODB_URI and KAFKA_BROKERS name no servers, and no container engine runs (${error.message})`,
  );
}

async function startMongo(containers: StartedTestContainer[]): Promise<string> {
  const container = await new GenericContainer(mongoImage)
    .withExposedPorts(mongoPort)
    .withWaitStrategy(Wait.forLogMessage(/[Ww]aiting for connections/))
    .withStartupTimeout(startupTimeoutMs)
    .start();
  containers.push(container);
  return `mongodb://${container.getHost()}:${container.getMappedPort(mongoPort)}/?directConnection=true`;
}

/** Starts one broker that is its own controller. Its port is chosen beforehand, because it must advertise it to clients. */
async function startKafka(containers: StartedTestContainer[]): Promise<string> {
  const port = await freePort();
  const container = await new GenericContainer(kafkaImage)
    .withExposedPorts({ container: kafkaPort, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_LISTENERS: `PLAINTEXT://0.0.0.0:${kafkaPort},CONTROLLER://127.0.0.1:29093`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@127.0.0.1:29093',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'true',
    })
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(startupTimeoutMs)
    .start();
  containers.push(container);
  return `127.0.0.1:${port}`;
}
