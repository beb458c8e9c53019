import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import type { SystemLog } from './log.ts';
import { clientName } from './processes.ts';
import type { System } from './system.ts';

/** A program of this folder that runs beside the system, and is killed and frozen too. */
export interface Client {
  /** Sends it a message, now and whenever it is restarted. */
  send(message: string): void;
  /** Kills it. */
  stop(): Promise<void>;
}

/** The run whose system clients are started beside. */
export interface ClientsOptions {
  system: System;
  /** The token of an admin. */
  token: string;
  /** The folder of the run, in which clients record what they receive. */
  dataDir: string;
  signal: AbortSignal;
}

interface ClientOptions {
  /** Its name in reports. */
  name: string;
  program: 'receiver.ts' | 'feed-reader.ts' | 'mail-server.ts' | 'backend.ts';
  args: readonly string[];
  variables: Environment;
  log: Pick<SystemLog, 'listen'>;
}

const restartMs = 500;

/** Starts a client, and restarts it whenever it ends. */
export function startClient({ name, program, args, variables, log }: ClientOptions): Client {
  let isStopping = false;
  let message: string | undefined;
  let child = start();

  function start(): ChildProcess {
    const started = spawn(process.execPath, [join(import.meta.dirname, program), ...args], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
      env: { ...process.env, ...variables, [clientName]: name },
    });
    log.listen(started);
    // It may die while a message is sent to it; the next one gets the message when it starts.
    started.on('error', () => undefined);
    if (message !== undefined) started.send(message, () => undefined);
    started.once('exit', () => {
      if (!isStopping) setTimeout(restart, restartMs);
    });
    return started;
  }

  function restart(): void {
    if (!isStopping) child = start();
  }

  return {
    send(given) {
      message = given;
      if (child.connected) child.send(given, () => undefined);
    },
    async stop() {
      isStopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
