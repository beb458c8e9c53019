import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { probeHealth } from './probe-health.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

async function internalPort(respond: (path: string | undefined) => number | undefined): Promise<number> {
  const server = createServer((request, response) => {
    const status = respond(request.url);
    if (status !== undefined) response.writeHead(status).end();
  });
  servers.push(server);
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a process is healthy while it is ready', async () => {
  let status = 200;
  const port = await internalPort((path) => (path === '/readyz' ? status : 404));
  expect(await probeHealth('TICKETING_X_', port, {})).toBe(true);
  status = 503;
  expect(await probeHealth('TICKETING_X_', port, {})).toBe(false);
});

test.each(['0.0.0.0', '::', '127.0.0.1', ''])('asks the configured port on the address %j', async (host) => {
  const port = await internalPort(() => 200);
  const variables = { TICKETING_X_INTERNAL_PORT: String(port), TICKETING_X_HOST: host };
  expect(await probeHealth('TICKETING_X_', 1, variables)).toBe(true);
  expect(await probeHealth('TICKETING_X_', 1, { ...variables, TICKETING_X_INTERNAL_PORT: '1' })).toBe(false);
});

test('the address of the internal port goes before that of the others', async () => {
  const port = await internalPort(() => 200);
  const variables = { TICKETING_X_HOST: '192.0.2.1', TICKETING_X_INTERNAL_HOST: '127.0.0.1' };
  expect(await probeHealth('TICKETING_X_', port, variables)).toBe(true);
});

test('a process that does not respond in time is not healthy', async () => {
  const port = await internalPort(() => undefined);
  expect(await probeHealth('TICKETING_X_', port, {}, 100)).toBe(false);
});
