import { join } from 'node:path';
import { describeFullDisk, type Exit, isAborted } from '@ticketing/embedded-mongo/embedded-mongo.ts';
import type { DevelopmentCertificates } from '@ticketing/testkit/development-certificates.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { currentBuild } from '../dev/build.ts';
import { systemEnvironment } from '../dev/environment.ts';
import { publishEnvironment } from '../dev/environment-file.ts';
import { greeting } from '../dev/greeting.ts';
import { loadServices } from '../dev/load-services.ts';
import { choosePorts } from '../dev/ports.ts';
import { runDevelopmentScript } from '../dev/run-script.ts';
import { startInOneProcess, startSplit } from '../dev/services.ts';
import { readStartOptions, type StartOptions } from '../dev/start-options.ts';
import { openStore } from '../dev/store.ts';
import { waitUntilReady } from '../dev/wait-until-ready.ts';
import { validateStore } from '../doctor/validate-store.ts';

await runDevelopmentScript(async () => {
  const options = readStartOptions(process.argv.slice(2));
  if (typeof options === 'string') process.stdout.write(options);
  else await start(options);
});

/** Starts everything. On a signal, or if a part cannot be started, stops what was started, in the reverse order. */
async function start(options: StartOptions): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  const stopAll = async () => {
    for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
  };
  onSignal(stopAll);
  try {
    await startSystem(options, stops);
  } catch (error) {
    await stopAll();
    throw error;
  }
}

async function startSystem(options: StartOptions, stops: (() => Promise<void>)[]): Promise<void> {
  const { dataDir, logLevel } = options;
  const ports = await choosePorts(options.port);
  const keys = developmentKeys(dataDir);
  const certificates = options.hasTls ? await certificatesIn(dataDir) : undefined;
  // Begins to load or build the services now, because the store is opened meanwhile by another process.
  (options.isSplit ? currentBuild() : loadServices()).catch(() => undefined);
  const store = await openStore(dataDir, process.env.MONGODB_URI);
  let isStopping = false;
  stops.push(async () => {
    isStopping = true;
    await store.stop();
  });
  void store.exited.then(async (exit) => {
    if (isStopping) return;
    endWith(await describeEnd(exit, dataDir).catch(String));
  });
  const environment = systemEnvironment({ ports, keys, certificates, mongodbUri: store.uri, logLevel }, process.env);
  const services = await (options.isSplit ? startSplit(environment) : startInOneProcess(environment));
  stops.push(services.stop);
  // The internal ports never have TLS. They are the last on which a service begins to listen.
  const urls = [...ports.values()].map(({ internal }) => `http://127.0.0.1:${internal}`);
  await Promise.race([waitUntilReady(urls), services.failed]);
  services.enableRestarts();
  const removeEnvironment = publishEnvironment(dataDir, environment);
  stops.push(async () => removeEnvironment());
  process.stdout.write(await greeting(dataDir, ports, keys, certificates, environment));
}

/** Loads the library that makes certificates only where they are needed. */
async function certificatesIn(dataDir: string): Promise<DevelopmentCertificates> {
  const { developmentCertificates } = await import('@ticketing/testkit/development-certificates.ts');
  return developmentCertificates(dataDir);
}

/** Says why the store has ended. If it has ended itself, its disk is full or a file is damaged, which is named. */
async function describeEnd(exit: Exit, dataDir: string): Promise<string> {
  const general =
    'The store has ended unexpectedly; run npm start again. If it ends again: npm run doctor -- --validate';
  if (!isAborted(exit)) return general;
  const full = await describeFullDisk(join(dataDir, 'mongodb'));
  if (full !== undefined) return full;
  const print = (line: string) => void process.stderr.write(`${line}\n`);
  print('The store has ended itself. Its files are read now, to find one that is damaged.');
  await validateStore(dataDir, undefined, print);
  return general;
}

function endWith(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** The first signal stops everything in order; a second one ends this process at once. */
function onSignal(stopAll: () => Promise<void>): void {
  let isStopping = false;
  const stop = async () => {
    if (isStopping) process.exit(1);
    isStopping = true;
    await stopAll();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
}
