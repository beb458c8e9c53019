import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { internalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import { services, variableName } from '@ticketing/system/services.ts';
import { type DevelopmentKeys, developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import type { Target } from './load.ts';
import { findDescendants, type RunningProcess, readResidentBytes } from './process-figures.ts';

/** The system, running with its processes split as in production. */
export interface BenchSystem extends Target {
  /** The ids of the processes by the name of their service, and that of the database engine. */
  processes: Record<string, number>;
  mongodbUri: string;
  /** The process of a service. Errors: there is no such service. */
  service(name: string): BenchService;
  keys: DevelopmentKeys;
  /** The resident memory of each service, in bytes. */
  memory(): Record<string, number>;
  stop(): Promise<void>;
}

/** A service in a separate process. */
export interface BenchService {
  pid: number;
  environment: ReadonlyMap<string, string>;
  /** The p99 of its event-loop delay since the last call, in ms. */
  loopDelayMs(): Promise<number>;
}

const root = join(import.meta.dirname, '..');
/** A service that has a store; in development all are on one server. */
const stored = services.find(({ hasStore }) => hasStore)?.name ?? '';
/** The caller of all requests; the scope `skills` filters by its skills. */
const caller = {
  sub: '7',
  kind: 'serviceWorker',
  roleId: 1,
  skills: { tagIds: [3, 4], excludedTagIds: [], restricted: true },
};

/** How the system is started. */
export interface SystemOptions {
  /** The folder to which CPU profiles of its services go. */
  profiles?: string | undefined;
  /** Environment variables of its services, in addition to those of this process. */
  environment?: Record<string, string>;
  /** The checkout whose system is started; this one by default. */
  checkout?: string | undefined;
}

/** Starts the system on a data folder. Errors: it did not start. */
export async function startSystem(
  folder: string,
  { profiles, environment: additions = {}, checkout = root }: SystemOptions = {},
): Promise<BenchSystem> {
  const child = spawn(
    process.execPath,
    [join(checkout, 'tools/cli/main.ts'), 'start', '--split', '--port', '0', '--data', folder],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...additions,
        [variableName('gateway', 'RATE_LIMITS')]: 'serviceWorker=100000000',
        ...(profiles ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` } : {}),
      },
    },
  );
  const url = await readyUrl(child);
  const running = findDescendants(child.pid ?? 0);
  const engine = findProcess('embedded-mongo', running);
  const processes = new Map(services.map(({ name }) => [name, serviceProcess(name, running)]));
  const service = (name: string) => {
    const found = processes.get(name);
    if (!found) throw new Error(`There is no service ${name}.`);
    return found;
  };
  const keys = developmentKeys(folder);
  const { issuerKeyFile } = keys;
  const headers = { authorization: `Bearer ${await signToken(issuerKeyFile, caller, 86_400)}` };
  return {
    url,
    headers,
    processes: { ...Object.fromEntries([...processes].map(([name, { pid }]) => [name, pid])), engine: engine.pid },
    mongodbUri: service(stored).environment.get(variableName(stored, 'MONGODB_URI')) ?? '',
    // The requests of every load but those of exports and webhooks are for tickets.
    loopDelayMs: service('tickets').loopDelayMs,
    service,
    keys,
    memory: () => Object.fromEntries([...processes].map(([name, { pid }]) => [name, readResidentBytes(pid)])),
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** Errors: no process has the text in its command. */
function findProcess(text: string, running: readonly RunningProcess[]): RunningProcess {
  const found = running.find(({ command }) => command.includes(text));
  if (!found) throw new Error(`No process of ${text} is running.`);
  return found;
}

/** The headers of a request that the gateway would send to a service for an administrator. */
export async function internalHeaders({ keys }: Pick<BenchSystem, 'keys'>, service: string) {
  const tokens = await internalTokens('gateway', keys.signingKeyFile('gateway'));
  const authorization = `Bearer ${await tokens.mint(service, testCaller({ kind: 'serviceWorker', roleId: 1 }))}`;
  return { authorization };
}

function serviceProcess(name: string, running: readonly RunningProcess[]): BenchService {
  const { pid, environment } = findProcess(`/${name}/main.mjs`, running);
  const port = environment.get(variableName(name, 'INTERNAL_PORT'));
  return { pid, environment, loopDelayMs: () => readLoopDelay(`http://127.0.0.1:${port}/metrics`) };
}

/** Waits until the system prints its address. */
async function readyUrl(child: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const url = /^ready (\S+)$/m.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', () => reject(new Error('The system could not be started.')));
  });
}

async function readLoopDelay(url: string): Promise<number> {
  const metrics = await (await fetch(url)).text();
  const seconds = /^(?:\w+_)?nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(metrics)?.[1];
  return Number(seconds) * 1000;
}
