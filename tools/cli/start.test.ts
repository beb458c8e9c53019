import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { services } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { tryPort } from '@ticketing/testkit/free-port.ts';
import { describe, expect, it } from 'vitest';
import { findChildren, isAlive, openPrograms, outcome } from './started-programs.ts';

const { data, run, start } = openPrograms();

describe('npm start', () => {
  it('prints a curl command that creates a ticket, and stops in order on a signal', async () => {
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

    const [store] = findChildren(child.pid);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(isAlive(store?.pid ?? 0)).toBe(false);
  });

  it('does not run in production', async () => {
    const ends = ['start', 'token'].map((name) => outcome(run(name, [], { NODE_ENV: 'production' })));
    const error = 'This is for development only and does not run with NODE_ENV=production.\n';
    for (const ended of await Promise.all(ends)) expect(ended).toEqual({ code: 1, out: '', error });
  });
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
  const missing = join(data(), 'typo');
  const error = expect.stringMatching(/^\S+typo has no keys of a system; [^\n]*\n$/);
  expect(await outcome(run('token', ['--data', missing]))).toEqual({ code: 1, out: '', error });
  expect(existsSync(missing)).toBe(false);
});

it('npm run token prints a token and nothing else', async () => {
  developmentKeys(data());
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
