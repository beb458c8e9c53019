import { join } from 'node:path';
import type { Environment } from '@ticketing/service-kit/config-reader.ts';
import { runChild, superviseChild } from './child-service.ts';

/** The services of the system, started; their stores' indexes are built. */
export interface RunningServices {
  /** Rejects if a service ends while the system is starting. */
  failed: Promise<never>;
  /** The system is ready: a service that dies from now on is started again. */
  settled(): void;
  /** Stops the gateway, then what is behind it. */
  stop(): Promise<void>;
}

const services = join(import.meta.dirname, '..', '..', 'services');

/** Starts every service in this process. */
export async function startTogether(environment: Environment): Promise<RunningServices> {
  const [{ applyIndexes }, { startTickets }, { startGateway }] = await importServices();
  const indexes = applyIndexes(environment);
  // What fails early is thrown where it is awaited.
  indexes.catch(() => undefined);
  const tickets = await startTickets(environment);
  const gateway = await startGateway(environment).catch(async (error: unknown) => {
    await tickets.stop();
    throw error;
  });
  const stop = async () => {
    await gateway.stop();
    await tickets.stop();
  };
  await indexes.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { failed: new Promise(() => undefined), settled: () => undefined, stop };
}

/** Loads the services; also ahead of time, while something else is waited for. */
export function importServices() {
  return Promise.all([
    import('@ticketing/tickets/apply-indexes.ts'),
    import('@ticketing/tickets/service.ts'),
    import('@ticketing/gateway/service.ts'),
  ]);
}

/**
 * The heap of each service, as in production: the gateway passes on what it is sent, the tickets service takes bodies of
 * 40 MiB apart. Without a limit Node lets garbage pile up by the size of the machine.
 */
const nodeFlags = {
  gateway: ['--max-semi-space-size=16', '--max-old-space-size=512'],
  tickets: ['--max-semi-space-size=32', '--max-old-space-size=1024'],
};

/** Starts each service as a process of its own, from the same program as in production. */
export async function startApart(environment: Environment): Promise<RunningServices> {
  const start = (name: keyof typeof nodeFlags) => {
    const program = [...nodeFlags[name], join(services, name, 'src/main.ts')];
    return superviseChild(name, program, environment);
  };
  const tickets = start('tickets');
  const gateway = start('gateway');
  const stop = async () => {
    await gateway.stop();
    await tickets.stop();
  };
  try {
    await runChild('The building of indexes', [join(services, 'tickets/src/apply-indexes.ts')], environment);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    failed: Promise.race([tickets.failed, gateway.failed]),
    settled: () => {
      tickets.settled();
      gateway.settled();
    },
    stop,
  };
}
