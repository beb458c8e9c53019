import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort, tryPort } from './free-port.ts';

test('a free port is none of those that outgoing connections get', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(Math.min(...ports)).toBeGreaterThanOrEqual(10_000);
  expect(Math.max(...ports)).toBeLessThan(32_000);
  expect(new Set(ports).size).toBe(50);
});

test('a port is free as long as nothing listens on it', async () => {
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(await tryPort(port)).toBeUndefined();
  server.close();
  await once(server, 'close');
  expect(await tryPort(port)).toBe(port);
});
