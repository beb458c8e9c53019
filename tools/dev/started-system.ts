import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { services } from '@ticketing/system/services.ts';

/** A whole system that `npm start` runs. */
export interface StartedSystem {
  /** The URL of the gateway. */
  url: string;
  /** The URL of the RPC API of a service: of Connect, or of gRPC. */
  rpcUrl(service: string, protocol?: 'gRPC'): string;
  /** The URL of the metrics of a service. */
  metricsUrl(service: string): string;
  /** A token of an admin. */
  token: string;
  data: string;
  /** Stops it as Ctrl+C in a terminal does, and waits until all its processes have ended. Returns whether it said `stopped`. */
  stop(): Promise<boolean>;
}

const root = join(import.meta.dirname, '..', '..');
const startMs = 150_000;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How a system is started: with further options of `npm start`, and further variables. */
export interface StartedSystemOptions {
  options?: readonly string[];
  variables?: Readonly<Record<string, string>>;
}

/**
 * Starts a system on free ports, with its own stores in a data folder; without one, in a new one that the stop removes.
 * Errors: it ends, or is not ready in time.
 */
export async function startedSystem(
  dataDir?: string,
  { options = [], variables = {} }: StartedSystemOptions = {},
): Promise<StartedSystem> {
  const data = dataDir ?? mkdtempSync(join(tmpdir(), 'ticketing-docs-'));
  const { MONGODB_URI: _mongodb, KAFKA_BROKERS: _kafka, ...env } = process.env;
  // A process group of its own, which is what a terminal sends its signals to.
  const child = spawn('npm', ['start', '--', '--port', '0', '--data', data, ...options], {
    cwd: root,
    detached: true,
    env: { ...env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    printed += part;
  });
  const interrupt = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
  };
  const stopToo = () => {
    interrupt();
    process.exit(1);
  };
  for (const signal of signals) process.once(signal, stopToo);
  const stop = async () => {
    for (const signal of signals) process.off(signal, stopToo);
    if (child.exitCode === null && child.signalCode === null) interrupt();
    await ended;
    if (dataDir === undefined) rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    return /^stopped$/m.test(printed);
  };
  try {
    return { ...describedIn(await printedUntilReady(child)), data, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads the addresses and the token that a start prints. */
function describedIn(output: string): Pick<StartedSystem, 'url' | 'token' | 'rpcUrl' | 'metricsUrl'> {
  const [, url = ''] = /^ready (\S+)$/m.exec(output) ?? [];
  const [, token = ''] = /^token +(\S+)$/m.exec(output) ?? [];
  const rpcUrl = (service: string, protocol?: 'gRPC') => {
    const [, grpc, connect] = new RegExp(`\\b${service} (\\S+) \\(Connect ([^)\\s]+)\\)`).exec(output) ?? [];
    if (!grpc || !connect) throw new Error(`The system has printed no RPC address of ${service}.`);
    return protocol === 'gRPC' ? `http://${grpc}` : connect;
  };
  const metrics = /^metrics +(.+)$/m.exec(output)?.[1]?.split(', ') ?? [];
  const metricsUrl = (service: string) => metrics[services.findIndex(({ name }) => name === service)] ?? '';
  return { url, token, rpcUrl, metricsUrl };
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
