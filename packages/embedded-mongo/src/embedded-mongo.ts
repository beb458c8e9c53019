import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export interface EmbeddedMongoOptions {
  /** Made if it does not exist; one process at a time. */
  readonly dataDir: string;
  /** Any free one by default. */
  readonly port?: number;
  /** WiredTiger's cache, which grows to this size with use. */
  readonly cacheSizeMb?: number;
  /** Recovery after a crash happens within this time. */
  readonly startTimeoutMs?: number;
  /** After this time `stop` kills, which loses no write that was acknowledged with `journal: true`. */
  readonly stopTimeoutMs?: number;
}

export interface EmbeddedMongo {
  readonly uri: string;
  readonly pid: number;
  /** The exit code of the host, null if a signal ended it; never rejects. */
  readonly exited: Promise<number | null>;
  /** Finishes what is in flight, closes the directory, and resolves when the process is gone. */
  stop(): Promise<void>;
}

/**
 * Read by the host's libraries before its first line runs, so they are set here.
 *
 * Without a fixed mmap threshold glibc raises it to the largest block that was freed, and after a few large documents
 * keeps some 200 MB that nobody uses. The engine has its own threads; more arenas and Tokio workers give no speed.
 */
const memorySavers = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '1048576',
  MALLOC_TRIM_THRESHOLD_: '1048576',
  TOKIO_WORKER_THREADS: '2',
};

/**
 * Starts MongoDB's engine on a directory, in a process of its own that ends with this one.
 *
 * Errors: the host's one sentence (directory in use, platform unsupported, package absent, port taken).
 */
export async function startEmbeddedMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const host = spawnHost(options);
  const exited = new Promise<number | null>((resolve) => {
    host.once('exit', (code) => resolve(code));
    host.once('error', () => resolve(null));
  });
  const stop = () => stopHost(host, exited, options.stopTimeoutMs ?? 10_000);
  try {
    const { uri, pid } = await readiness(host, options.startTimeoutMs ?? 60_000);
    return { uri, pid, exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function spawnHost({ dataDir, port = 0, cacheSizeMb }: EmbeddedMongoOptions): ChildProcess {
  const entry = join(import.meta.dirname, 'host.ts');
  const cacheArguments = cacheSizeMb === undefined ? [] : ['--cache-mb', String(cacheSizeMb)];
  return spawn(process.execPath, [entry, '--data', dataDir, '--port', String(port), ...cacheArguments], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Its own process group: Ctrl-C in a terminal is for the services, which still write while they stop.
    detached: true,
    env: { ...memorySavers, ...process.env },
  });
}

function readiness(host: ChildProcess, timeoutMs: number): Promise<{ uri: string; pid: number }> {
  return new Promise((resolve, reject) => {
    let complaint = '';
    let isReady = false;
    const timer = setTimeout(
      () => reject(new Error(`The embedded MongoDB was not ready within ${timeoutMs} ms.`)),
      timeoutMs,
    );
    host.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (isReady) process.stderr.write(text);
      else complaint = (complaint + text).slice(-4_000);
    });
    host.stdout?.setEncoding('utf8').once('data', (line: string) => {
      clearTimeout(timer);
      isReady = true;
      resolve(JSON.parse(line)); // written at once, and far shorter than a pipe's buffer: never split
    });
    host.once('error', (cause) => {
      clearTimeout(timer);
      reject(new Error('The embedded MongoDB could not be started.', { cause }));
    });
    // `close` comes after the last byte of stderr, `exit` may come before it.
    host.once('close', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(complaint.trim() || `The embedded MongoDB ended at once (${signal ?? `exit code ${code}`}).`));
    });
  });
}

async function stopHost(host: ChildProcess, exited: Promise<number | null>, timeoutMs: number): Promise<void> {
  const killTimer = setTimeout(() => host.kill('SIGKILL'), timeoutMs);
  host.kill('SIGTERM');
  await exited;
  clearTimeout(killTimer);
}
