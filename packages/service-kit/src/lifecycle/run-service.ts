import { type ServiceEntry, serviceNamed } from '@ticketing/system/services.ts';
import { describeOperations, describeProgram } from '../operations/operation-help.ts';
import { type OperationRequest, parseRequest } from '../operations/operation-request.ts';
import { requireOperation } from '../operations/operations.ts';
import type { RunningService, Service } from './compose-service.ts';

/** Longer than any request lasts: a stop that takes longer is stuck, and the process exits. */
export const stopTimeoutMs = 45_000;

/** The major version of the oldest Node that runs a service. Older ones read some charsets wrongly. */
export const oldestNode = 24;

/** Refuses to run on a Node that is too old. `version` is, for example, `24.1.0`. Errors: an Error with the advice. */
export function requireNode(version: string): void {
  if (Number.parseInt(version, 10) >= oldestNode) return;
  throw new Error(`A service needs Node ${oldestNode} or newer; this is Node ${version} (${process.execPath}).`);
}

/**
 * Runs a service as the program of this process: starts it, and stops it on SIGTERM or SIGINT, or when the parent process,
 * connected by an IPC channel, has ended. With the name of an operation and its options it carries out only that, and with
 * `help` it lists the operations.
 *
 * Errors: a Node that is too old, an unknown argument, or the error of a failed start or operation, is printed to standard
 * error, and the process exits with code 1.
 */
export async function runService(service: Pick<Service<never>, 'name' | 'start' | 'operate'>): Promise<void> {
  const args = process.argv.slice(2);
  try {
    requireNode(process.versions.node);
    if (args[0] === 'help' || args.includes('--help')) printHelp(serviceNamed(service.name), args);
    else if (args.length > 0) await operateWithParent(service, parseRequest(args));
    else await keepRunning(await service.start());
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

/** Explains the operation that is named before or after `help` or `--help`; all if none is. */
function printHelp(entry: ServiceEntry, args: readonly string[]): void {
  const [name] = args.filter((arg) => arg !== 'help' && arg !== '--help');
  for (const line of name === undefined ? describeProgram(entry) : describeOperations([requireOperation(name)]))
    print(line);
}

/** Carries out an operation, unless the parent process ends meanwhile: one without its database could wait for long. */
async function operateWithParent(service: Pick<Service<never>, 'operate'>, request: OperationRequest): Promise<void> {
  const exit = () => process.exit(1);
  process.once('disconnect', exit);
  const left = await service.operate(request, print);
  process.off('disconnect', exit);
  process.exitCode = left > 0 ? 1 : 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
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
