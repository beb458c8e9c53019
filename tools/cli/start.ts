import { join, resolve } from 'node:path';
import { describeFullDisk, type Exit, isAborted } from '@ticketing/embedded-mongo/embedded-mongo.ts';
import type { DevelopmentCertificates } from '@ticketing/testkit/development-certificates.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { currentBuild } from '../dev/build.ts';
import { systemEnvironment } from '../dev/environment.ts';
import { publishEnvironment } from '../dev/environment-file.ts';
import { openFirstMailbox } from '../dev/first-mailbox.ts';
import { gatewayUrl } from '../dev/gateway-url.ts';
import { adminToken, greeting } from '../dev/greeting.ts';
import { loadServices } from '../dev/load-services.ts';
import { choosePorts, findPorts } from '../dev/ports.ts';
import { startInOneProcess, startSplit } from '../dev/services.ts';
import { openStore } from '../dev/store.ts';
import { waitUntilReady } from '../dev/wait-until-ready.ts';
import { validateStore } from '../doctor/validate-store.ts';
import { declareCommand, print, readNumber } from './command.ts';

/** The options of `npm start`. */
interface StartOptions {
  /** The port of the gateway; 0 for any free one. */
  port: number;
  dataDir: string;
  /** Whether each service is a separate process. */
  isSplit: boolean;
  /** Whether all parts listen and call with TLS. */
  hasTls: boolean;
  logLevel: string;
}

const usage = `Starts the whole system on this machine:

  npm start -- --port 8080 --data ./data

  --port PORT        the port of the gateway (8080; 0 for any free one); the other services take the ports after it
  --data DIR         the folder of keys and data (./data)
  --split            runs each service in a process of its own, from bundles, as in production
  --tls              TLS between all parts, with certificates that are made in the data folder
  --log-level LEVEL  trace, debug, info, warn, error or silent (warn)

MONGODB_URI names a MongoDB server to use instead of the embedded store, and KAFKA_BROKERS (host:port,…) the brokers of a
Kafka cluster to use instead of the embedded log. Variables that begin with TICKETING_ configure the services.
`;

const options = {
  port: { type: 'string', default: '8080' },
  data: { type: 'string', default: './data' },
  split: { type: 'boolean', default: false },
  tls: { type: 'boolean', default: false },
  'log-level': { type: 'string', default: 'warn' },
} as const;

export const command = declareCommand({ usage, options }, (values) =>
  start({
    port: readNumber('port', values.port, { from: 0, to: 65_535 }),
    dataDir: resolve(values.data),
    isSplit: values.split,
    hasTls: values.tls,
    logLevel: values['log-level'],
  }),
);

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
  const token = await adminToken(keys);
  await openFirstMailbox(dataDir, gatewayUrl(dataDir, String(findPorts(ports, 'gateway').http)), token);
  process.stdout.write(greeting(dataDir, ports, token, certificates, environment));
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
    print('stopped');
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
}
