import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import type { Service } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { services } from '@ticketing/system/services.ts';
import { currentBuild, programIn } from './build.ts';
import { runChild, superviseChild } from './child-service.ts';
import { loadServices } from './load-services.ts';

/** The services of the system, started; their stores' indexes are built. */
export interface RunningServices {
  /** Rejects if a service ends while the system is starting. */
  failed: Promise<never>;
  /** The system is ready: a service that dies from now on is started again. */
  settled(): void;
  /** Stops the gateway, then what is behind it. */
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, '..', '..');
/** Where Node keeps sources that it has compiled, types stripped. */
const compileCache = join(root, 'node_modules', '.cache', 'node');

/** Sets up and starts every service in this process. */
export async function startTogether(environment: Environment): Promise<RunningServices> {
  const loaded = await importServices();
  const running: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const service of running.splice(0).reverse()) await service.stop();
  };
  try {
    await Promise.all(loaded.map((service) => service.setUp(environment)));
    for (const service of loaded) running.push(await service.start(environment));
  } catch (error) {
    await stop();
    throw error;
  }
  return { failed: new Promise(() => undefined), settled: () => undefined, stop };
}

/** Loads the services; also ahead of time, while something else is waited for. */
export function importServices(): Promise<Service[]> {
  enableCompileCache(compileCache);
  return loadServices();
}

/**
 * The heap of a service: one that takes bodies of 40 MiB apart needs the most. Without a limit Node lets garbage pile up by
 * the size of the machine.
 */
const nodeFlags = ['--max-semi-space-size=8', '--max-old-space-size=512'];

/** What services need to run in less memory: a C library that gives back what was freed. */
const processEnvironment = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/** What Node is given to run a service as in production: flags, and the program that was built of it. */
export async function serviceProgram(service: string): Promise<string[]> {
  return programOf(await currentBuild(), service);
}

function programOf(folder: string, service: string): string[] {
  return [...nodeFlags, programIn(folder, service)];
}

/** Starts each service as a process of its own, from the same program as in production. */
export async function startApart(given: Environment): Promise<RunningServices> {
  const folder = await currentBuild();
  const environment = { ...processEnvironment, NODE_COMPILE_CACHE: join(folder, 'compiled'), ...given };
  const children = services.map(({ name }) => superviseChild(name, programOf(folder, name), environment));
  const stop = async () => {
    for (const child of children.toReversed()) await child.stop();
  };
  try {
    const setUp = ({ name }: { name: string }) =>
      runChild(`The set-up of ${name}`, [programIn(folder, name), 'set-up'], environment);
    await Promise.all(services.map(setUp));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    failed: Promise.race(children.map(({ failed }) => failed)),
    settled: () => {
      for (const child of children) child.settled();
    },
    stop,
  };
}
