import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '@ticketing/runtime/config-reader.ts';

/** A service in a separate process. */
export interface ChildService {
  /** Rejects if the process ends before `enableRestarts` was called. */
  failed: Promise<never>;
  /** Called when the system is ready: from now on the process is restarted whenever it ends. */
  enableRestarts(): void;
  stop(): Promise<void>;
}

/** The pause before a restart doubles with each restart, between these two. */
const shortestPauseMs = 250;
const longestPauseMs = 8_000;
/** A process that has run for this long is restarted after the shortest pause. */
const healthyMs = 30_000;
const stopTimeoutMs = 15_000;

/**
 * Runs Node with these arguments (flags, then the program of a service) as a child process, and restarts it when it
 * ends. The child stops when this process is gone.
 */
export function superviseChild(name: string, program: readonly string[], environment: Environment): ChildService {
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  let isRestarted = false;
  let isStopping = false;
  let pauseMs = shortestPauseMs;
  let pause: NodeJS.Timeout | undefined;
  let child = run();

  function run(): ChildProcess {
    const startedAt = Date.now();
    const started = spawnNode(program, environment);
    started.once('exit', (code, signal) => {
      const end = `${name} has ended (${signal ?? `code ${code}`})`;
      if (isStopping) return;
      if (!isRestarted) {
        failure.reject(new Error(`${end} before it was ready.`));
        return;
      }
      if (Date.now() - startedAt > healthyMs) pauseMs = shortestPauseMs;
      process.stderr.write(`${end}; it is restarted in ${pauseMs} ms.\n`);
      pause = setTimeout(() => {
        child = run();
      }, pauseMs);
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    });
    return started;
  }

  return {
    failed: failure.promise,
    enableRestarts: () => {
      isRestarted = true;
    },
    async stop() {
      isStopping = true;
      clearTimeout(pause);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      child.kill('SIGTERM');
      await once(child, 'exit');
      clearTimeout(timer);
    },
  };
}

/** Runs a program and waits until it ends. Errors: an exit code other than 0. */
export async function runChild(name: string, program: readonly string[], environment: Environment): Promise<void> {
  const [code] = await once(spawnNode(program, environment), 'exit');
  if (code !== 0) throw new Error(`${name} has failed (${code === null ? 'killed' : `code ${code}`}).`);
}

function spawnNode(program: readonly string[], environment: Environment): ChildProcess {
  return spawn(process.execPath, program, {
    env: environment,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // In a separate process group: Ctrl-C in a terminal must reach only this process, which stops its children in
    // order.
    detached: true,
  });
}
