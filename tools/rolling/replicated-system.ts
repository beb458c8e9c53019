import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { type ServiceEntry, services, variableName } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import type { ServicePorts } from '@ticketing/testkit/service-variables.ts';
import { programIn } from '../dev/build.ts';
import { runChild } from '../dev/child-service.ts';
import { systemEnvironment } from '../dev/environment.ts';
import { openStore, type Store } from '../dev/store.ts';
import { waitUntilReady } from '../dev/wait-until-ready.ts';
import { startBalancer, type TcpBalancer } from './tcp-balancer.ts';

/** A process of a service. */
export interface Replica {
  service: string;
  /** Its number among the replicas of its service, from 0. */
  index: number;
  ports: ServicePorts;
  /** Whether its process runs. */
  isRunning: boolean;
  /** The id of its process. Errors: it has not been started. */
  pid(): number;
  /** Starts its process from a folder of bundles, and waits until it gets connections. */
  start(bundles: string): Promise<void>;
  /** Ends its process by SIGTERM. Returns how long that took in ms. Errors: an exit code other than 0. */
  stop(): Promise<number>;
  /** Resolves when its process has ended; at once if none runs. */
  ended(): Promise<void>;
}

/** A system on this machine, with several processes of services. */
export interface ReplicatedSystem {
  /** The address of the gateways. */
  url: URL;
  dataDir: string;
  replicas: readonly Replica[];
  /** The store that all services use. */
  store: Store;
  /** The variables with which others reach the services, and read their stores. */
  environment: Environment;
  /** Sets up the stores of all services by other bundles. */
  setUp(bundles: string): Promise<void>;
  stop(): Promise<void>;
}

/** How a replicated system is made. */
export interface ReplicatedOptions {
  dataDir: string;
  /** The folder with the bundles that it is set up and started from. */
  bundles: string;
  /** How many processes a service has. */
  count(service: string): number;
  /** The port of the gateways; by default a free one. */
  port?: number;
  /** Variables of all services, and of the process that starts them. By default only those that are derived. */
  variables?: Environment;
  /** Further variables of the processes with this number. */
  toVariables?(index: number): Environment;
  /** Starts a process for the first time. By default once, and it must become ready. */
  start?(replica: Replica): Promise<void>;
  /** The output of the processes: by default `system.log` in the data folder. */
  log?: 'inherit';
}

/** How often a replica is asked whether it is ready, as an orchestrator does. */
const probeMs = 100;
/** A replica is not used any more after this many probes in a row without a response. */
const lateProbes = 3;
/** For how long services tell clients to leave before they close, in ms; on a busy machine all of it takes longer. */
const drainMs = 3_000;

/**
 * Starts a store, and several processes of each service. REST and the gateway are reached through balancers of connections,
 * RPC by the list of addresses, as with a Service and a headless Service of Kubernetes. Everything is logged to
 * `system.log` in the data folder.
 */
export async function startReplicatedSystem(options: ReplicatedOptions): Promise<ReplicatedSystem> {
  const { dataDir, bundles, count, port, variables = {} } = options;
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (let one = stops.pop(); one; one = stops.pop()) await one();
  };
  try {
    const store = await openStore(dataDir, variables.MONGODB_URI);
    stops.push(() => store.stop());
    const balancers = new Map<string, TcpBalancer>();
    for (const { name } of services) balancers.set(name, await startBalancer(name === 'gateway' ? port : 0));
    stops.push(() => Promise.all([...balancers.values()].map((one) => one.close())));
    const places = toPlaces(count, await unusedPorts());
    const environment = toEnvironment({ dataDir, mongodbUri: store.uri, variables }, balancers, places);
    const setUp = async (from: string) => {
      const setUpOne = ({ name }: ServiceEntry) =>
        runChild(`The set-up of ${name}`, [programIn(from, name), 'set-up'], environment);
      await Promise.all(services.map(setUpOne));
    };
    await setUp(bundles);
    const log = options.log ?? openSync(join(dataDir, 'system.log'), 'a');
    const replicas = places.map((place) =>
      openReplica(place, { ...environment, ...options.toVariables?.(place.index) }, log),
    );
    stops.push(() => Promise.all(replicas.filter((one) => one.isRunning).map((one) => one.stop().catch(() => 0))));
    const probing = probe(replicas, balancers);
    stops.push(async () => probing.stop());
    const { start = (replica: Replica) => replica.start(bundles) } = options;
    await Promise.all(replicas.map(start));
    const url = new URL(`http://127.0.0.1:${balancers.get('gateway')?.port}`);
    return { url, dataDir, replicas, store, environment, setUp, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Place {
  service: string;
  index: number;
  ports: ServicePorts;
}

function toPlaces(count: (service: string) => number, nextPort: () => number): Place[] {
  return services.flatMap(({ name, ports }) =>
    Array.from({ length: count(name) }, (_, index) => {
      const grpc = ports.grpc === undefined ? 0 : nextPort();
      return { service: name, index, ports: { http: nextPort(), grpc, internal: nextPort() } };
    }),
  );
}

/** Chooses a hundred free ports: a stopped process must find its port unused when it starts again. */
async function unusedPorts(): Promise<() => number> {
  const chosen = new Set<number>();
  while (chosen.size < 100) chosen.add(await freePort());
  const unused = [...chosen];
  return () => {
    const port = unused.shift();
    if (port === undefined) throw new Error('There are more processes than ports.');
    return port;
  };
}

/** The variables of all services: those of a development system, with several addresses of each service. */
function toEnvironment(
  { dataDir, mongodbUri, variables }: { dataDir: string; mongodbUri: string; variables: Environment },
  balancers: ReadonlyMap<string, TcpBalancer>,
  places: readonly Place[],
): Environment {
  const ports = new Map(
    services.map(({ name }) => [name, { http: balancers.get(name)?.port ?? 0, grpc: 0, internal: 0 }]),
  );
  const keys = developmentKeys(dataDir);
  const derived = systemEnvironment({ ports, keys, mongodbUri, logLevel: 'warn' }, variables);
  const targets = services.flatMap(({ name, calls, ports: { grpc } }) =>
    grpc === undefined
      ? []
      : calls.map((called) => [variableName(name, `${called.toUpperCase()}_TARGET`), toTarget(called, places)]),
  );
  return {
    ...derived,
    ...Object.fromEntries(targets),
    ...Object.fromEntries(services.map(({ name }) => [variableName(name, 'DRAIN_MS'), String(drainMs)])),
    [variableName('gateway', 'RATE_LIMITS')]: 'serviceWorker=100000000',
  };
}

function toTarget(service: string, places: readonly Place[]): string {
  const own = places.filter((place) => place.service === service);
  return `ipv4:${own.map(({ ports }) => `127.0.0.1:${ports.grpc}`).join(',')}`;
}

function openReplica({ service, index, ports }: Place, environment: Environment, log: number | 'inherit'): Replica {
  let child: ChildProcess | undefined;
  const own = {
    [variableName(service, 'HTTP_PORT')]: String(ports.http),
    [variableName(service, 'INTERNAL_PORT')]: String(ports.internal),
    ...(ports.grpc > 0 ? { [variableName(service, 'GRPC_PORT')]: String(ports.grpc) } : {}),
  };
  return {
    service,
    index,
    ports,
    get isRunning() {
      return child !== undefined && child.exitCode === null && child.signalCode === null;
    },
    pid() {
      if (child?.pid === undefined) throw new Error(`${service} ${index} has not been started.`);
      return child.pid;
    },
    async start(bundles) {
      const env = { ...environment, ...own, NODE_COMPILE_CACHE: join(bundles, 'compiled') };
      const started = spawn(process.execPath, [programIn(bundles, service)], {
        stdio: ['ignore', log, log, 'ipc'],
        env,
      });
      child = started;
      const ended = once(started, 'exit').then(() => {
        throw new Error(`${service} ${index} has ended before it was ready.`);
      });
      await Promise.race([waitUntilReady([`http://127.0.0.1:${ports.internal}`]), ended]);
      await sleep(2 * probeMs);
    },
    async stop() {
      const startedAt = performance.now();
      const running = child;
      if (!running) return 0;
      const exited = once(running, 'exit');
      running.kill('SIGTERM');
      const [code] = await exited;
      if (code !== 0) throw new Error(`${service} ${index} has ended with code ${code}.`);
      return performance.now() - startedAt;
    },
    async ended() {
      if (child && this.isRunning) await once(child, 'exit');
    },
  };
}

/**
 * Asks all replicas again and again whether they are ready, and lets the balancers use those that are. One that does not
 * respond in time is used until that has happened several times in a row, as with the failure threshold of a probe.
 */
function probe(replicas: readonly Replica[], balancers: ReadonlyMap<string, TcpBalancer>): { stop(): void } {
  let isStopping = false;
  const states = replicas.map((replica) => ({ replica, isUsed: false, late: 0 }));
  const run = async () => {
    while (!isStopping) {
      await Promise.all(
        states.map(async (state) => {
          const readiness = await readReadiness(state.replica);
          state.late = readiness === 'late' ? state.late + 1 : 0;
          state.isUsed = readiness === 'ready' || (state.isUsed && readiness === 'late' && state.late < lateProbes);
        }),
      );
      for (const [service, balancer] of balancers) {
        const own = states.filter(({ replica, isUsed }) => replica.service === service && isUsed);
        balancer.use(own.map(({ replica }) => replica.ports.http));
      }
      await sleep(probeMs);
    }
  };
  void run();
  return {
    stop() {
      isStopping = true;
    },
  };
}

async function readReadiness({ ports, isRunning }: Replica): Promise<'ready' | 'not ready' | 'late'> {
  if (!isRunning) return 'not ready';
  try {
    const response = await fetch(`http://127.0.0.1:${ports.internal}/readyz`, { signal: AbortSignal.timeout(1_000) });
    await response.body?.cancel();
    return response.ok ? 'ready' : 'not ready';
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'late' : 'not ready';
  }
}
