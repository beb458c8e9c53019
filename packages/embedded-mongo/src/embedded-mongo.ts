import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { readFolderSpace } from './disk-figures.ts';

/** How the embedded MongoDB is started. */
export interface EmbeddedMongoOptions {
  /** Created if it does not exist. Only one process can use it at a time. */
  readonly dataDir: string;
  /** The port; by default any free one. */
  readonly port?: number;
  /** The size to which WiredTiger's cache may grow. */
  readonly cacheSizeMb?: number;
  /** How much of the disk is kept for the engine, so that it survives a full one; by default nothing. */
  readonly reserveMb?: number;
  /** How long the start may take, including recovery after a crash. */
  readonly startTimeoutMs?: number;
  /** The time after which `stop` kills the process. No write that was acknowledged with `journal: true` is lost. */
  readonly stopTimeoutMs?: number;
}

/** How a process has ended; null if it could not be started. */
export type Exit = number | NodeJS.Signals | null;

/** A running embedded MongoDB. */
export interface EmbeddedMongo {
  readonly uri: string;
  readonly pid: number;
  /** Resolves with the exit code of the process, or the signal that ended it. Never rejects. */
  readonly exited: Promise<Exit>;
  /** Finishes requests in flight, closes the directory, and resolves when the process has exited. */
  stop(): Promise<void>;
}

/**
 * Environment variables of the host process. Its libraries read them before its first line runs, so they are set here.
 *
 * If the mmap threshold is not fixed, glibc raises it to the size of the largest freed block, and after a few large
 * documents keeps some 200 MB of unused memory. More arenas and Tokio workers do not make the engine faster.
 */
const memorySavers = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '1048576',
  MALLOC_TRIM_THRESHOLD_: '1048576',
  TOKIO_WORKER_THREADS: '2',
};

/**
 * Starts MongoDB's engine on a directory, in a separate process that exits when this process does.
 *
 * Errors: one sentence for the person who starts the system: directory in use, platform unsupported, package not
 * installed, port taken, disk full, files damaged.
 */
export async function startEmbeddedMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const host = spawnHost(options);
  const exited = new Promise<Exit>((resolve) => {
    host.once('exit', (code, signal) => resolve(code ?? signal));
    host.once('error', () => resolve(null));
  });
  const stop = () => stopHost(host, exited, options.stopTimeoutMs ?? 10_000);
  try {
    const { uri, pid } = await waitUntilReady(host, options.startTimeoutMs ?? 60_000);
    return { uri, pid, exited, stop };
  } catch (error) {
    await stop();
    const isOfEngine = isAborted(await exited) || (error instanceof Error && error.message.includes('cannot open'));
    const full = isOfEngine ? await describeFullDisk(options.dataDir).catch(() => undefined) : undefined;
    if (full !== undefined) throw new Error(full, { cause: error });
    if (isAborted(await exited)) throw new Error(describeDamage(options.dataDir), { cause: error });
    throw error;
  }
}

/** Whether the engine has ended itself, as it does when it cannot write or read a file. */
export function isAborted(exit: Exit): boolean {
  return exit === 'SIGABRT' || exit === 'SIGSEGV' || exit === 'SIGBUS';
}

const mib = 1024 * 1024;
/** The engine needs less to recover and to start. */
const neededBytes = 64 * mib;

/** Says in one sentence that the disk of a folder is full; undefined if it is not. */
export async function describeFullDisk(dataDir: string): Promise<string | undefined> {
  const { free } = await readFolderSpace(dataDir);
  if (free >= neededBytes) return undefined;
  return `The disk of ${dataDir} is full (${Math.floor(free / mib)} MiB are free): free some space, or enlarge it, and start again.`;
}

function describeDamage(dataDir: string): string {
  return `The embedded MongoDB has ended itself, as it does when a file in ${dataDir} is damaged: npm run doctor -- --validate names the file and what to do.`;
}

function spawnHost({ dataDir, port = 0, cacheSizeMb, reserveMb = 0 }: EmbeddedMongoOptions): ChildProcess {
  const entry = join(import.meta.dirname, 'host.ts');
  const cacheArguments = cacheSizeMb === undefined ? [] : ['--cache-mb', String(cacheSizeMb)];
  const folderArguments = ['--data', dataDir, '--reserve-mb', String(reserveMb)];
  return spawn(process.execPath, [entry, ...folderArguments, '--port', String(port), ...cacheArguments], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // In a separate process group, so that Ctrl-C in a terminal stops only the services, which write while they stop.
    detached: true,
    env: { ...memorySavers, ...process.env },
  });
}

function waitUntilReady(host: ChildProcess, timeoutMs: number): Promise<{ uri: string; pid: number }> {
  return new Promise((resolve, reject) => {
    let errorText = '';
    let isReady = false;
    const timer = setTimeout(
      () => reject(new Error(`The embedded MongoDB was not ready within ${timeoutMs} ms.`)),
      timeoutMs,
    );
    host.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (isReady) process.stderr.write(text);
      else errorText = (errorText + text).slice(-4_000);
    });
    host.stdout?.setEncoding('utf8').once('data', (line: string) => {
      clearTimeout(timer);
      isReady = true;
      resolve(JSON.parse(line)); // one write, shorter than a pipe's buffer, arrives in one chunk
    });
    host.once('error', (cause) => {
      clearTimeout(timer);
      reject(new Error('The embedded MongoDB could not be started.', { cause }));
    });
    // `close` is emitted after the last byte of stderr, `exit` may be emitted before it.
    host.once('close', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(errorText.trim() || `The embedded MongoDB ended at once (${signal ?? `exit code ${code}`}).`));
    });
  });
}

async function stopHost(host: ChildProcess, exited: Promise<Exit>, timeoutMs: number): Promise<void> {
  const killTimer = setTimeout(() => host.kill('SIGKILL'), timeoutMs);
  host.kill('SIGTERM');
  await exited;
  clearTimeout(killTimer);
}
