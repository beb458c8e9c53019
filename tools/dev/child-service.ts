import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '@ticketing/runtime/config-reader.ts';

/** A service in a process of its own. */
export interface ChildService {
  /** Rejects if the process ends before `settled` is called. */
  failed: Promise<never>;
  /** From now on the process is started again when it dies. */
  settled(): void;
  stop(): Promise<void>;
}

const shortestPauseMs = 250;
const longestPauseMs = 8_000;
/** A process that has lived this long, in ms, starts again after the shortest pause. */
const healthyMs = 30_000;
const stopTimeoutMs = 15_000;

/** Runs the program of a service, with Node's flags before it, as a child, which ends with this process. */
export function superviseChild(name: string, program: readonly string[], environment: Environment): ChildService {
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  let isSettled = false;
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
      if (!isSettled) {
        failure.reject(new Error(`${end} before it was ready.`));
        return;
      }
      if (Date.now() - startedAt > healthyMs) pauseMs = shortestPauseMs;
      process.stderr.write(`${end}; it starts again in ${pauseMs} ms.\n`);
      pause = setTimeout(() => {
        child = run();
      }, pauseMs);
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    });
    return started;
  }

  return {
    failed: failure.promise,
    settled: () => {
      isSettled = true;
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

/** Runs a program to its end. Errors: any exit code but 0. */
export async function runChild(name: string, program: readonly string[], environment: Environment): Promise<void> {
  const [code] = await once(spawnNode(program, environment), 'exit');
  if (code !== 0) throw new Error(`${name} has failed.`);
}

function spawnNode(program: readonly string[], environment: Environment): ChildProcess {
  return spawn(process.execPath, program, {
    env: environment,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Its own process group: Ctrl-C in a terminal is for this process, which stops its children in order.
    detached: true,
  });
}
