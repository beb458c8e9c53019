import type { RunningService, Service } from './compose-service.ts';
import { type OperationRequest, requestOf } from './operation-request.ts';

/** Longer than any request lasts: a stop that takes longer is stuck, and the process exits. */
export const stopTimeoutMs = 45_000;

/**
 * Runs a service as the program of this process: starts it, and stops it on SIGTERM or SIGINT, or when the parent process,
 * connected by an IPC channel, has ended. With the argument `set-up` it only sets the service up; with the name of an operation
 * that programs carry out, and its arguments, only that.
 *
 * Errors: an unknown argument, or the error of a failed start or set-up, is printed to standard error, and the process exits
 * with code 1.
 */
export async function runService(service: Pick<Service<never>, 'setUp' | 'start' | 'operate'>): Promise<void> {
  try {
    const [, , ...args] = process.argv;
    const request = requestOf(args);
    if (args[0] === 'set-up') await setUpWithParent(service);
    else if (request) await operateOnce(service, request);
    else if (args.length > 0) throw new Error(`"${args[0]}" is no operation of this program.`);
    else await keepRunning(await service.start());
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

async function operateOnce(service: Pick<Service<never>, 'operate'>, request: OperationRequest): Promise<void> {
  const left = await service.operate(request, (line) => process.stdout.write(`${line}\n`));
  process.exitCode = left > 0 ? 1 : 0;
}

/** Sets a service up, unless the parent process ends meanwhile: a set-up without its database could wait for long. */
async function setUpWithParent(service: Pick<Service<never>, 'setUp'>): Promise<void> {
  const exit = () => process.exit(1);
  process.once('disconnect', exit);
  await service.setUp();
  process.off('disconnect', exit);
}

async function keepRunning(running: RunningService): Promise<void> {
  let isStopping = false;
  const stop = async (reason: string) => {
    if (isStopping) return;
    isStopping = true;
    running.log.info({ reason }, 'stopping');
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    await running
      .stop()
      .catch((error: unknown) => running.log.error({ err: error }, 'the service could not be stopped cleanly'));
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.once('disconnect', () => stop('the parent process has exited'));
  // The parent may have ended while the service was starting.
  if (process.connected === false) await stop('the parent process has exited');
}
