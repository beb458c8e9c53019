import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { services } from '@ticketing/system/services.ts';
import { damageLargestFile } from '@ticketing/testkit/damage-file.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { tryPort } from '@ticketing/testkit/free-port.ts';
import { isDeep } from '@ticketing/testkit/search-effort.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const { MONGODB_URI: _, ...environment } = process.env;
let data: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'ticketing-start-test-'));
});

afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  // After a kill the store's process ends a moment later, and writes to the folder until then.
  rmSync(data, { recursive: true, maxRetries: 20, retryDelay: 100 });
});

const root = join(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
/** The program of `npm start`, with its options of Node. */
const program = scripts.start.split(' ').slice(1, -1);

function run(name: string, args: string[], extra: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, [...program, name, '--data', data, ...args], {
    cwd: root,
    env: { ...environment, ...extra },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
}

/** Starts the system and waits until it has printed that it is ready. */
async function start(...args: string[]) {
  const child = run('start', ['--port', '0', ...args]);
  let output = '';
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    errors += part;
  });
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    output += part;
  });
  await vi.waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`it has ended: ${errors}`);
      expect(output).toMatch(/^ready \S+\n$/m);
    },
    { timeout: 120_000 },
  );
  return { child, output, errorOutput: () => errors, url: /^ready (\S+)$/m.exec(output)?.[1] ?? '' };
}

/** Runs a script to its end. */
async function outcome(child: ChildProcess) {
  const none = { stdout: null, stderr: null };
  const { stdout, stderr } = child.stdout && child.stderr ? child : none;
  const [code, out, error] = await Promise.all([once(child, 'exit'), stdout && text(stdout), stderr && text(stderr)]);
  return { code: code[0], out, error };
}

const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const findChildren = (pid: number | undefined) =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => ({ pid: Number.parseInt(line, 10), args: line }));

/** The resident memory of a process, in MB. */
const residentMb = (pid: number | undefined) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;

describe('npm start', () => {
  it('prints a curl command that creates a ticket, holds its folder and its port, serves npm run events, and stops in order on a signal', async () => {
    const { child, output, url } = await start();
    // The store: every other process starts when it is first needed.
    expect(findChildren(child.pid)).toHaveLength(1);
    const curl = output.split('\n').find((line) => line.startsWith('curl ')) ?? '';
    const [, token = ''] = /Bearer (\S+)'/.exec(curl) ?? [];
    const [, body = ''] = /-d '(.*)'$/.exec(curl) ?? [];
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/ticket`, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: 1, channel: 'email', subject: 'Hello' });

    const [folder, port, drained, listed] = await Promise.all([
      outcome(run('start', ['--port', '0'])),
      outcome(run('start', ['--port', new URL(url).port])),
      outcome(run('events', ['drain'])),
      outcome(run('events', ['dead-letters'])),
    ]);
    expect(folder).toMatchObject({ code: 1, error: expect.stringMatching(/^[^\n]* in use by another process\.\n$/) });
    expect(port).toMatchObject({ code: 1, error: expect.stringMatching(/^Port \d+ is taken; [^\n]*\n$/) });
    expect(drained).toMatchObject({ code: 0, error: '' });
    expect(listed).toEqual({ code: 0, out: expect.stringMatching(/^(\w+: 0 dead letters\n){6}$/), error: '' });

    const [store] = findChildren(child.pid);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(alive(store?.pid ?? 0)).toBe(false);
  });

  it.runIf(isDeep)('takes at most 450 MB before the first request, in all its processes', async () => {
    const { child } = await start();
    const memory = () => [child, ...findChildren(child.pid)].reduce((sum, { pid }) => sum + residentMb(pid), 0);
    await expect.poll(memory).toBeLessThan(450);
    // The memory stays below the limit.
    for (let nth = 0; nth < 10; nth++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(memory()).toBeLessThan(450);
    }
  });

  it.runIf(isDeep)('names the damaged file when the store ends itself because it has read it', async () => {
    const { child, url, output, errorOutput } = await start();
    const [, token = ''] = /Bearer (\S+)'/.exec(output) ?? [];
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const base64 = seededBytes(8 * 1024 * 1024).toString('base64');
    const body = { channel: 'email', from: 'kim@example.com', attachments: [{ name: 'f', base64 }] };
    const created = await fetch(`${url}/ticket`, { method: 'POST', headers, body: JSON.stringify(body) });
    const { attachments } = (await created.json()) as { attachments: { id: string }[] };
    child.kill('SIGINT');
    await once(child, 'exit');
    const damaged = await damageLargestFile(join(data, 'mongodb'));
    const again = await start();
    const file = `${again.url}/ticket/1/attachment/${attachments[0]?.id}`;
    await fetch(file, { headers })
      .then((response) => response.arrayBuffer())
      .catch(() => undefined);
    expect(await once(again.child, 'exit')).toEqual([1, null]);
    expect(again.errorOutput()).toContain(`is damaged: ${damaged} in `);
    expect(again.errorOutput()).toContain('restore a backup (docs/operations/backup.md)');
    expect(errorOutput()).toBe('');
  });

  it.runIf(isDeep)('with --tls has TLS between all parts, and the demo plays against it', async () => {
    const { url } = await start('--tls');
    expect(url).toMatch(/^https:/);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
    const demo = await outcome(run('demo', ['--port', new URL(url).port]));
    expect(demo).toMatchObject({ code: 0, out: expect.stringContaining('→ 200 OK') });
  });

  it('does not run in production', async () => {
    const ends = ['start', 'token'].map((name) => outcome(run(name, [], { NODE_ENV: 'production' })));
    const error = 'This is for development only and does not run with NODE_ENV=production.\n';
    for (const ended of await Promise.all(ends)) expect(ended).toEqual({ code: 1, out: '', error });
  });

  // It builds the services, and kills some.
  it.runIf(isDeep)(
    'with --split restarts a service that dies, and leaves no process behind when it is killed itself',
    async () => {
      const { child, url, errorOutput } = await start('--split');
      const described = async () => {
        const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
        return Object.keys(document.paths);
      };
      await vi.waitFor(async () => expect(await described()).toEqual(expect.arrayContaining(['/ticket/search'])), {
        timeout: 60_000,
      });
      const gateway = findChildren(child.pid).find(({ args }) => args.includes('gateway'));
      process.kill(gateway?.pid ?? 0, 'SIGKILL');
      await vi.waitFor(
        () => expect(errorOutput()).toContain('gateway has ended (SIGKILL); it is restarted in 250 ms.'),
        {
          timeout: 60_000,
        },
      );
      await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), { timeout: 60_000 });
      const all = findChildren(child.pid);
      const store = 1;
      expect(all).toHaveLength(services.length + store);
      expect(residentMb(child.pid)).toBeLessThan(150);
      child.kill('SIGKILL');
      await vi.waitFor(() => expect(all.filter(({ pid }) => alive(pid))).toEqual([]), { timeout: 120_000 });
    },
  );
});

/** Chooses a port of the gateway after which a free one follows, and one that the returned server takes. */
async function gatewayBeforeTaken(): Promise<{ gateway: number; other: Server }> {
  const { choosePorts, findPorts } = await import('../dev/ports.ts');
  for (let attempt = 0; attempt < 100; attempt++) {
    const gateway = findPorts(await choosePorts(0), 'gateway').http;
    const other = createServer().listen({ host: '127.0.0.1', port: gateway + 2 });
    const isListening = await once(other, 'listening').then(
      () => true,
      () => false,
    );
    if (isListening && (await tryPort(gateway + 1)) !== undefined) return { gateway, other };
    other.close();
  }
  throw new Error('There are no three free ports in a row.');
}

it('gives the other services the ports that follow the port of the gateway, unless they are taken', async () => {
  const { choosePorts, findPorts } = await import('../dev/ports.ts');
  const { gateway, other } = await gatewayBeforeTaken();
  const ports = await choosePorts(gateway);
  expect(findPorts(ports, services[0]?.name ?? '').http).toBe(gateway + 1);
  const chosen = [...ports.values()].flatMap(({ http, grpc, internal }) => [http, grpc, internal]).filter(Boolean);
  expect(new Set([...chosen, gateway + 2]).size).toBe(chosen.length + 1);
  other.close();
});

it('npm run token refuses a folder without keys, and makes none there', async () => {
  const missing = join(data, 'typo');
  const error = expect.stringMatching(/^\S+typo has no keys of a system; [^\n]*\n$/);
  expect(await outcome(run('token', ['--data', missing]))).toEqual({ code: 1, out: '', error });
  expect(existsSync(missing)).toBe(false);
});

it('npm run token prints a token and nothing else', async () => {
  developmentKeys(data);
  const args = ['--sub', '7', '--kind', 'serviceWorker', '--role', '2', '--permissions', 'a,b', '--skills', '3,4'];
  const { code, out, error } = await outcome(
    run('token', [...args, '--excluded', '5', '--restricted', '--expires', '45m']),
  );
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const claims = JSON.parse(Buffer.from(out?.split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({
    sub: '7',
    kind: 'serviceWorker',
    roleId: 2,
    permissions: ['a', 'b'],
    teams: [],
    skills: { tagIds: [3, 4], excludedTagIds: [5], restricted: true },
    scope: 'api',
    iss: 'ticketing-development',
    aud: 'ticketing',
  });
  expect(claims.exp - claims.iat).toBe(45 * 60);
});
