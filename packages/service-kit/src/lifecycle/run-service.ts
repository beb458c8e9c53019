import type { Logger } from '@ticketing/runtime/logger.ts';

/** A service that is running. */
export interface RunningService {
  /** Stops in order: not ready, servers drained, background work ended, stores closed. */
  stop(): Promise<void>;
}

/** Longer than any request lasts; a stop that takes longer is stuck. */
const graceMs = 45_000;

/**
 * Runs a service as a process of its own: starts it, and stops it once on SIGTERM or SIGINT, or when the process that
 * spawned it with an IPC channel is gone.
 *
 * Errors: a start that fails is printed to standard error and ends the process with code 1.
 */
export async function runService(start: () => Promise<RunningService & { log: Logger }>): Promise<void> {
  try {
    const service = await start();
    let isStopping = false;
    const stop = async (reason: string) => {
      if (isStopping) return;
      isStopping = true;
      service.log.info({ reason }, 'stopping');
      setTimeout(() => process.exit(1), graceMs).unref();
      await service.stop().catch((error: unknown) => service.log.error({ err: error }, 'could not stop in order'));
      process.exit(0);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    process.once('disconnect', () => stop('the parent process is gone'));
    // The parent may have ended while the service was starting.
    if (process.connected === false) await stop('the parent process is gone');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
