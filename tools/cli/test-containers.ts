import { spawn } from 'node:child_process';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { type Command, processStreams } from './command.ts';

const usage = `Runs the integration suites on real servers: those that MONGODB_URI and KAFKA_BROKERS name, else containers:

  npm run test:containers

Arguments are passed to vitest.
`;

const mongoImage = process.env.TICKETING_TEST_MONGO_IMAGE ?? 'mongo:8.0';
const kafkaImage = process.env.TICKETING_TEST_KAFKA_IMAGE ?? 'apache/kafka:4.1.0';
const mongoPort = 27_017;
const kafkaPort = 9092;
const startupTimeoutMs = 120_000;
const containers: StartedTestContainer[] = [];

export const command: Command = (args, { print } = processStreams) => {
  if (!args.includes('--help')) return runSuites(args);
  print(usage.trimEnd());
  return Promise.resolve(0);
};

async function runSuites(args: readonly string[]): Promise<number> {
  try {
    const mongodbUri = process.env.MONGODB_URI ?? (await startMongo());
    const brokers = process.env.KAFKA_BROKERS ?? (await startKafka());
    process.stdout.write(
      `Running the integration suites on ${process.env.MONGODB_URI ? 'MONGODB_URI' : mongoImage} and ${process.env.KAFKA_BROKERS ? 'KAFKA_BROKERS' : kafkaImage}.\n`,
    );
    return await runTests(args, { MONGODB_URI: mongodbUri, KAFKA_BROKERS: brokers });
  } finally {
    await Promise.all(containers.map((container) => container.stop()));
  }
}

async function startMongo(): Promise<string> {
  const container = await new GenericContainer(mongoImage)
    .withExposedPorts(mongoPort)
    .withWaitStrategy(Wait.forLogMessage(/[Ww]aiting for connections/))
    .withStartupTimeout(startupTimeoutMs)
    .start();
  containers.push(container);
  return `mongodb://${container.getHost()}:${container.getMappedPort(mongoPort)}/?directConnection=true`;
}

/** Starts one broker that is its own controller. Its port is chosen beforehand, because it must advertise it to clients. */
async function startKafka(): Promise<string> {
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

function runTests(args: readonly string[], servers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    // The servers need processor time as well.
    const fixed = ['run', '.int.test.ts', '.e2e.test.ts', '--maxWorkers', '100%'];
    const child = spawn('vitest', [...fixed, ...args], {
      stdio: 'inherit',
      env: { ...process.env, ...servers },
    });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
