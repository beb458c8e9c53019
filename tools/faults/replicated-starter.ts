import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { declareCommand, print, UsageError } from '../cli/command.ts';
import { currentBuild } from '../dev/build.ts';
import { publishEnvironment } from '../dev/environment-file.ts';
import { type Replica, startReplicatedSystem } from '../rolling/replicated-system.ts';
import { replicaName } from './processes.ts';

const restartMs = 1_000;
/** The clocks of the second processes are 10 s ahead of those of the first ones. */
const fastClock = `--import=${join(import.meta.dirname, 'fast-clock.ts')}`;

/**
 * Starts a system with two processes of each service and of the gateway, as a program with the options of `npm start`. A
 * process that ends is started again; if the store ends, all end.
 */
const usage = 'Starts the system of npm run faults -- --replicas: --data DIR, and --port PORT of the gateways';
const options = { port: { type: 'string', default: '0' }, data: { type: 'string' } } as const;

export const command = declareCommand({ usage, options }, async ({ data: dataDir, port }) => {
  if (dataDir === undefined) throw new UsageError('--data is missing.');
  const bundles = await currentBuild();
  let isStopping = false;

  /** Starts a process, again and again, until it is ready, and from then on whenever it has ended. */
  async function keepRunning(replica: Replica): Promise<void> {
    for (let isReady = false; !isReady && !isStopping; ) {
      isReady = await replica.start(bundles).then(
        () => true,
        () => false,
      );
      if (!isReady) await pauseAfter(replica);
    }
    void pauseAfter(replica).then(() => keepRunning(replica));
  }

  const system = await startReplicatedSystem({
    dataDir,
    bundles,
    count: () => 2,
    port: port === '0' ? await freePort() : Number(port),
    variables: process.env,
    toVariables: (index): Environment => (index > 0 ? { [replicaName]: 'true', NODE_OPTIONS: fastClock } : {}),
    start: keepRunning,
    log: 'inherit',
  });
  void system.store.exited.then(() => {
    if (!isStopping) process.exit(1);
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, async () => {
      isStopping = true;
      await system.stop();
      process.exit(0);
    });
  }
  publishEnvironment(dataDir, system.environment);
  print(`ready ${system.url.href}`);
});

/** Waits until a process has ended, and then for a pause. */
async function pauseAfter(replica: Replica): Promise<void> {
  await replica.ended();
  await sleep(restartMs);
}
