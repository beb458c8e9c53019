import { spawn } from 'node:child_process';
import { GenericContainer, Wait } from 'testcontainers';

/** Runs the integration suites on a real database server: the one of `MONGODB_URI`, or one in a container. */
const given = process.env.MONGODB_URI;
const image = process.env.TICKETING_TEST_MONGO_IMAGE ?? 'mongo:8.0';
const port = 27_017;

const container = given
  ? undefined
  : await new GenericContainer(image)
      .withExposedPorts(port)
      .withWaitStrategy(Wait.forLogMessage(/[Ww]aiting for connections/))
      .withStartupTimeout(120_000)
      .start();
try {
  const uri = given ?? `mongodb://${container?.getHost()}:${container?.getMappedPort(port)}/?directConnection=true`;
  process.stdout.write(`Running the integration suites on ${given ? 'MONGODB_URI' : image}.\n`);
  process.exitCode = await runTests(uri);
} finally {
  await container?.stop();
}

function runTests(uri: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn('vitest', ['run', '.int.test.ts', '.e2e.test.ts', ...process.argv.slice(2)], {
      stdio: 'inherit',
      env: { ...process.env, MONGODB_URI: uri },
    });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
