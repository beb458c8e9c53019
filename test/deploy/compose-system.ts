import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { vi } from 'vitest';
import { parse } from 'yaml';
import { buildImages, imageServices } from '../../tools/images/build-images.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'deploy', 'compose');
const program = join(root, 'tools', 'cli', 'main.ts');
const tag = 'test';
/** The image that stands in for MongoDB on machines that reach no registry. */
const standIn = 'localhost/mongo-compatible:1';
const network = 'default';

/** The system of deploy/compose in separate containers. */
export interface ComposeSystem {
  /** The processes of the services, as compose.yaml names them. */
  processes: readonly string[];
  urls: { gateway: string; rpc: string; mails: string };
  /** The folder with the key of the issuer. */
  dataDir: string;
  /** The variables of compose.yaml. */
  environment: NodeJS.ProcessEnv;
  /** The command that runs the program of a service in its container, with `{service}` for its name. */
  programOf: string;
  /** The command that runs the program of a service in a new container. */
  newProgramOf: string;
  /** Runs JavaScript with the Node of a container, and returns what it prints. */
  evaluate(process: string, code: string): string;
  /** Whether the health check of a container succeeds now. */
  isHealthy(process: string): boolean;
  /** Runs another container on the network of the system, which is removed with it. */
  run(name: string, image: string, command: readonly string[]): void;
  stop(): void;
}

/** Why the system cannot be started here; undefined if it can. */
export function missingForCompose(): string | undefined {
  if (spawnSync('podman', ['info'], { stdio: 'ignore' }).status !== 0) return 'podman does not run here';
  if (spawnSync('podman-compose', ['--version'], { stdio: 'ignore' }).status !== 0) return 'podman-compose is missing';
  return undefined;
}

/** Builds the images, and starts everything. Errors: a part that is not healthy after some minutes. */
export async function startCompose(): Promise<ComposeSystem> {
  const names = imageServices;
  buildImages({ engine: 'podman', prefix: 'localhost/ticketing/', tag, names });
  const project = `ticketing-test-${randomBytes(4).toString('hex')}`;
  const dataDir = mkdtempSync(join(tmpdir(), 'compose-'));
  run('node', [program, 'compose:init', '--dir', dataDir]);
  const [http, rpc, mails, receiver] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const hasStandIn = spawnSync('podman', ['image', 'exists', standIn]).status === 0;
  const environment = {
    ...process.env,
    ...Object.fromEntries(
      readFileSync(join(dataDir, '.env'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
    ...{ IMAGE_TAG: tag, LOG_LEVEL: 'warn', HTTP_PORT: `${http}`, TICKETS_PORT: `${rpc}`, MAILS_PORT: `${mails}` },
    ...{ MAIL_RECEIVER_PORT: `${receiver}`, OUTBOUND_ALLOW: '10.0.0.0/8', OUTBOUND_REQUIRE_HTTPS: 'false' },
    ...(hasStandIn ? { MONGODB_URI: 'mongodb://mongo:27017/?directConnection=true' } : {}),
  };
  const files = ['compose.yaml', ...(hasStandIn ? ['compatible.yaml'] : [])].flatMap((file) => [
    '-f',
    join(folder, file),
  ]);
  const compose = (...args: string[]) => run('podman-compose', ['-p', project, ...files, ...args], environment);
  const toContainerName = (name: string) => `${project}_${name}_1`;
  const others: string[] = [];
  const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as {
    services: Record<string, { image: string; command?: string[] }>;
  };
  const processes = Object.keys(services).filter((name) => names.includes(name.replace(/-background$/, '')));
  const system: ComposeSystem = {
    processes,
    urls: { gateway: local(http), rpc: local(rpc), mails: local(mails) },
    dataDir,
    environment,
    programOf: `podman exec ${toContainerName('{service}-background')} /usr/local/bin/node main.mjs`,
    newProgramOf: ['podman-compose', '-p', project, ...files, 'run', '--rm', '-T', '{service}-set-up'].join(' '),
    evaluate: (name, code) =>
      run('podman', ['exec', toContainerName(name), '/usr/local/bin/node', '-e', code]).stdout.trim(),
    isHealthy: (name) => spawnSync('podman', ['healthcheck', 'run', toContainerName(name)]).status === 0,
    run(name, image, command) {
      const args = ['run', '-d', '--name', toContainerName(name), '--network', `${project}_${network}`];
      run('podman', [...args, '--network-alias', name, image, ...command]);
      others.push(toContainerName(name));
    },
    stop() {
      if (others.length > 0) run('podman', ['rm', '-f', '-t', '1', ...others]);
      compose('down', '-t', '5', '-v');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  try {
    // podman before 4.6 does not wait for health checks itself.
    compose('up', '-d', 'mongo', 'kafka', 'smtp');
    await untilHealthy(system, ['mongo', 'kafka']);
    compose('up', '-d');
    await untilHealthy(system, processes);
  } catch (error) {
    for (const name of processes)
      process.stderr.write(spawnSync('podman', ['logs', '--tail', '3', toContainerName(name)]).stderr);
    system.stop();
    throw error;
  }
  return system;
}

function local(port: number): string {
  return `http://127.0.0.1:${port}`;
}

async function untilHealthy(system: ComposeSystem, names: readonly string[]): Promise<void> {
  const waiting = new Set(names);
  const check = () => {
    for (const name of waiting) if (system.isHealthy(name)) waiting.delete(name);
    if (waiting.size > 0) throw new Error(`Not healthy: ${[...waiting].join(', ')}`);
  };
  await vi.waitFor(check, { timeout: 240_000, interval: 500 });
}

function run(program: string, args: readonly string[], env = process.env): SpawnSyncReturns<string> {
  const result = spawnSync(program, args, { env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}\n${result.stderr?.slice(-4000)}`);
  return result;
}

/** Runs a command of this repository while the test goes on. Returns its exit code and what it printed. */
export async function runCommand(
  name: string,
  args: readonly string[],
  env = process.env,
): Promise<{ code: number; printed: string }> {
  const child = spawn('node', [program, name, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  }
  const [code] = await once(child, 'close');
  return { code, printed };
}
