import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A whole system in a process of its own, as `npm start` runs it. */
export interface StartedSystem {
  /** The URL of the gateway. */
  url: string;
  /** The URL of the RPC API of a service. */
  rpcUrl(service: string): string;
  /** A token of an admin. */
  token: string;
  data: string;
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, '..', '..');
const startMs = 150_000;

/**
 * Starts a system on free ports, with stores of its own in a data folder; without one, in a new folder that the stop removes.
 * Errors: it ends, or is not ready in time.
 */
export async function startedSystem(dataDir?: string): Promise<StartedSystem> {
  const data = dataDir ?? mkdtempSync(join(tmpdir(), 'ticketing-docs-'));
  const { MONGODB_URI: _mongodb, KAFKA_BROKERS: _kafka, ...env } = process.env;
  const child = spawn(
    process.execPath,
    ['--import', './tools/dev/compile-cache.mjs', 'scripts/start.ts', '--port', '0', '--data', data],
    {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    if (dataDir === undefined) rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  try {
    return { ...describedIn(await printedUntilReady(child)), data, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a start prints about its system. */
function describedIn(output: string): Pick<StartedSystem, 'url' | 'token' | 'rpcUrl'> {
  const [, url = ''] = /^ready (\S+)$/m.exec(output) ?? [];
  const [, token = ''] = /^token +(\S+)$/m.exec(output) ?? [];
  const rpcUrl = (service: string) => {
    const [, found] = new RegExp(`\\b${service} \\S+ \\(Connect ([^)\\s]+)\\)`).exec(output) ?? [];
    if (!found) throw new Error(`The system has printed no RPC address of ${service}.`);
    return found;
  };
  return { url, token, rpcUrl };
}

function printedUntilReady(child: ReturnType<typeof spawn>): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    const timer = setTimeout(() => reject(new Error(`The system is not ready: ${output}${errors}`)), startMs);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      errors += part;
    });
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      if (/^ready \S+$/m.test(output)) end(() => resolve(output));
    });
    child.once('exit', () => end(() => reject(new Error(`The system has ended: ${output}${errors}`))));
  });
}
