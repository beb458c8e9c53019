import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { constants, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SandboxError, type SandboxReason } from './sandbox-error.ts';
import type { RunMessage, WorkerMessage } from './serve-functions.ts';
import { waitedForProcessor } from './waited-for-processor.ts';

/**
 * How a worker is limited. Units: MB of heap. The time of a run includes neither the start of the worker nor the time that
 * it waits for a processor while others use it, up to a factor of `maxSlowdown`: what a run may do must not depend on how
 * busy the machine is.
 */
export interface WorkerLimits {
  timeoutMs: number;
  maxHeapMb: number;
}

/** A process that makes one run at a time. */
export interface SandboxWorker {
  /**
   * Errors: SandboxError, after which the worker has ended, except for `output` and `failed`; that of an argument that
   * cannot be copied.
   */
  run(request: Omit<RunMessage, 'endAfterMs'>): Promise<unknown>;
  readonly hasEnded: boolean;
  /** Ends the process. A run that it is making fails with the reason. */
  end(reason: Error): Promise<void>;
}

/** How much longer than its time a run may take on a busy machine. */
const maxSlowdown = 20;

/** A worker that has not loaded its module after this time counts as crashed. */
const startTimeoutMs = 30_000;

/**
 * How the process ends when V8 has no memory left. If the machine has none left, the operating system sends SIGKILL.
 */
const outOfMemorySignals: readonly (string | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

/** The run that a worker is making, or its start. */
interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/**
 * Starts a worker with the module, which calls `serveFunctions`. It is a process and no thread, because a thread without
 * memory takes its process with it (docs/decisions/0023). Of the environment it has only the folder in which this process
 * caches compiled sources, so that it starts faster, and it does not keep this process running.
 *
 * Errors: SandboxError `crashed`, if the module cannot be loaded.
 */
export async function startWorker(module: URL, limits: WorkerLimits): Promise<SandboxWorker> {
  const { timeoutMs } = limits;
  const child = fork(fileURLToPath(module), forkOptions(limits));
  lowerPriority(child.pid);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let pending: Pending | undefined;
  let hasEnded = false;
  const settle = (use: (current: Pending) => void) => {
    const current = pending;
    pending = undefined;
    if (!current) return;
    clearTimeout(current.timer);
    use(current);
  };
  const failWith = (error: Error) => {
    hasEnded = true;
    settle(({ reject }) => reject(error));
    child.kill('SIGKILL');
  };
  const fail = (reason: SandboxReason, message: string, cause?: unknown) =>
    failWith(new SandboxError(reason, message, { cause }));
  const wait = (timeoutMs: number, onTimeout: () => void) =>
    new Promise<unknown>((resolve, reject) => {
      pending = { resolve, reject, timer: setTimeout(onTimeout, timeoutMs) };
    });
  /** Calls `onTimeout` when the process has had the time, and not only waited for a processor. */
  const waitForRun = (onTimeout: () => void) => {
    const startedAt = performance.now();
    const waitedBefore = waitedForProcessor(child.pid);
    const onTime = () => {
      const elapsed = performance.now() - startedAt;
      const had = elapsed - (waitedForProcessor(child.pid) - waitedBefore);
      const current = pending;
      if (!current) return;
      if (had < timeoutMs && elapsed < maxSlowdown * timeoutMs) current.timer = setTimeout(onTime, timeoutMs - had);
      // If this process had no time itself, a result may wait to be read: that comes first.
      else setImmediate(() => pending === current && onTimeout());
    };
    return wait(timeoutMs, onTime);
  };
  child.on('message', (message: WorkerMessage) =>
    settle(({ resolve, reject }) => {
      if (message === 'ready') resolve(undefined);
      else if ('reason' in message) reject(new SandboxError(message.reason, message.message));
      else resolve(message.value);
    }),
  );
  child.on('error', (error) => fail('crashed', 'The worker failed.', error));
  child.on('exit', (code, signal) =>
    outOfMemorySignals.includes(signal)
      ? fail('memory', `The worker needed more than ${limits.maxHeapMb} MB.`)
      : fail('crashed', `The worker ended with ${signal ?? code}.`),
  );
  letParentEnd(child);
  await wait(startTimeoutMs, () => fail('crashed', `The worker did not start within ${startTimeoutMs} ms.`));
  return {
    run(request) {
      const outcome = waitForRun(() => fail('time', `The run took longer than ${timeoutMs} ms.`));
      const message: RunMessage = { ...request, endAfterMs: 2 * maxSlowdown * timeoutMs };
      try {
        child.send(message, (error) => error && fail('crashed', 'The worker cannot be reached.', error));
      } catch (error) {
        // Nothing was sent to the worker. It makes the next run, which the timer of this one must not end.
        settle(({ reject }) => reject(error instanceof Error ? error : new Error(String(error))));
      }
      return outcome;
    },
    get hasEnded() {
      return hasEnded;
    },
    async end(reason) {
      failWith(reason);
      await exited;
    },
  };
}

function forkOptions({ maxHeapMb }: WorkerLimits): ForkOptions {
  const maxSemiSpaceMb = Math.max(1, Math.floor(maxHeapMb / 16));
  return {
    env: compileCache(),
    execArgv: [`--max-old-space-size=${maxHeapMb}`, `--max-semi-space-size=${maxSemiSpaceMb}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  };
}

/** Names the compile cache of this process as Node expects it: it adds a folder for its version. */
function compileCache(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

function letParentEnd(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

/** Requests come first: on a machine with few cores, work on long texts would otherwise delay them. */
function lowerPriority(processId: number | undefined): void {
  if (processId === undefined) return;
  try {
    setPriority(processId, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The worker has ended, or the system does not allow it.
  }
}
