import { services } from '@ticketing/system/services.ts';
import { readStatuses, sendPipelined } from '@ticketing/testkit/pipelined.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const pages = {
  gateway: [
    ...['/openapi.json', '/asyncapi.json', '/docs', '/docs/static/swagger-ui.css', '/docs/static/swagger-ui-bundle.js'],
    ...['/docs/static/start.js', '/docs/static/icon.svg', '/healthz', '/readyz'],
  ],
  service: ['/openapi.json', '/healthz', '/readyz'],
  internal: ['/metrics', '/healthz', '/readyz'],
};
const endpoints = services.flatMap(({ name }) => [
  ...pages[name === 'gateway' ? name : 'service'].map((path) => ({ name, port: 'http' as const, path })),
  ...pages.internal.map((path) => ({ name, port: 'internal' as const, path })),
]);

describe.each(endpoints)('$path of $name ($port)', ({ name, port: portName, path }) => {
  const send = (count: number) =>
    sendPipelined({ port: system.findPorts(name)[portName], path, count, isClosed: true });

  test('20 requests of an address are in flight at once, and the others of a connection are refused', async () => {
    const refused = Array(44).fill(429);
    await expect.poll(async () => readStatuses(await send(64))).toEqual([...Array(20).fill(200), ...refused]);
  });

  test('a connection with more than 64 requests in flight is closed, and others are served', async () => {
    expect((await readStatuses(await send(2_000))).length).toBeLessThan(64);
    await expect.poll(async () => readStatuses(await send(1))).toEqual([200]);
  });
});
