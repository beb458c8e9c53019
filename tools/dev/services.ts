import { join } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { services } from '@ticketing/system/services.ts';
import { currentBuild, programIn } from './build.ts';
import { runChild, superviseChild } from './child-service.ts';
import { loadServices } from './load-services.ts';

/** The services of the system, set up and started. */
export interface RunningServices {
  /** Rejects if a service ends before the system is ready. */
  failed: Promise<never>;
  /** Called when the system is ready: from now on a service that ends is restarted. */
  enableRestarts(): void;
  /** Stops the services, each before those that it calls. */
  stop(): Promise<void>;
}

/** Sets up and starts every service in this process. */
export async function startInOneProcess(environment: Environment): Promise<RunningServices> {
  const loaded = await loadServices();
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
  return { failed: new Promise(() => undefined), enableRestarts: () => undefined, stop };
}

/**
 * Limits of the heap of a service. Parsing bodies of 40 MiB needs the most. Without a limit Node sizes the heap by the
 * memory of the machine, and collects garbage later.
 */
export const nodeFlags = ['--max-semi-space-size=8', '--max-old-space-size=512'];

/** Makes the C library return freed memory to the operating system sooner. */
export const processEnvironment = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/**
 * The arguments of Node that run a service as in production: flags, and the program that was built from its sources.
 */
export async function serviceProgram(service: string): Promise<string[]> {
  return toProgram(await currentBuild(), service);
}

function toProgram(folder: string, service: string): string[] {
  return [...nodeFlags, programIn(folder, service)];
}

/** Sets up every service and starts each as a separate process, from the same program as in production. */
export async function startSplit(given: Environment): Promise<RunningServices> {
  const folder = await currentBuild();
  const environment = { ...processEnvironment, ...given, NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const children = services.map(({ name }) => superviseChild(name, toProgram(folder, name), environment));
  const stop = async () => {
    for (const child of children.toReversed()) await child.stop();
  };
  try {
    const setUp = ({ name }: { name: string }) =>
      runChild(`The set-up of the ${name} service`, [programIn(folder, name), 'set-up'], environment);
    await Promise.all(services.map(setUp));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    failed: Promise.race(children.map(({ failed }) => failed)),
    enableRestarts: () => {
      for (const child of children) child.enableRestarts();
    },
    stop,
  };
}
