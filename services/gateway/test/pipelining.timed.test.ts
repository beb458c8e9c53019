import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { variableName } from '@ticketing/system/services.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { findLeast } from '@ticketing/testkit/machine-limits.ts';
import { type PipelinedRequests, readStatuses, sendPipelined } from '@ticketing/testkit/pipelined.ts';
import { testIdentity } from '@ticketing/testkit/test-identity.ts';
import { untilReady } from '@ticketing/testkit/until-ready.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { upstreams } from '../src/request/upstreams.ts';
import { gatewayVariables } from './harness.ts';
import { send } from './http-client.ts';
import { startStub } from './stub-service.ts';

const ports = { http: 0, internal: 0 };
const identity = testIdentity();
const stub = await startStub();
let gateway: ReturnType<typeof spawn>;

const document = openApiDocument({
  title: 'Tickets',
  version: '1',
  served: upstreams.flatMap(({ contracts }) =>
    contracts.map((service) => ({ service, handlers: new Map(service.methods.map((method) => [method, null])) })),
  ),
});

beforeAll(async () => {
  Object.assign(ports, { http: await freePort(), internal: await freePort() });
  stub.setDescription(document);
  const variables = {
    ...gatewayVariables(identity, 1),
    [variableName('gateway', 'TICKETS_URL')]: stub.url,
    [variableName('gateway', 'HTTP_PORT')]: String(ports.http),
    [variableName('gateway', 'INTERNAL_PORT')]: String(ports.internal),
  };
  gateway = spawn(process.execPath, ['--max-old-space-size=512', join(import.meta.dirname, '../src/main.ts')], {
    env: { PATH: process.env.PATH, ...variables },
    stdio: 'inherit',
  });
  await untilReady(`http://127.0.0.1:${ports.internal}`);
  await vi.waitFor(
    async () => expect((await send(ports.http, 'GET', '/openapi.json')).body.length).toBeGreaterThan(200_000),
    { timeout: 30_000 },
  );
});
afterAll(async () => {
  gateway.kill();
  await once(gateway, 'exit');
  await stub.close();
  identity.remove();
});

/** The resources that the gateway has used. */
async function usage(): Promise<{ cpuMs: number; miB: number }> {
  const text = (await send(ports.internal, 'GET', '/metrics')).body.toString();
  const metricNamed = (name: string) => Number(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    cpuMs: metricNamed('process_cpu_seconds_total') * 1000,
    miB: metricNamed('process_resident_memory_bytes') / 1024 ** 2,
  };
}

/** Sends requests whose responses nobody reads, and probes meanwhile. Returns the processor time and the memory after it. */
async function attack(request: PipelinedRequests, connections: number): Promise<{ cpuMs: number; miB: number }> {
  const before = await usage();
  const sockets = await Promise.all(Array.from({ length: connections }, () => sendPipelined(request)));
  let slowestMs = 0;
  for (let nth = 0; nth < 20; nth++) {
    const startedAt = performance.now();
    expect((await send(ports.internal, 'GET', '/healthz')).status).toBe(200);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    await setTimeout(50);
  }
  process.stdout.write(
    `${request.count} × ${connections} ${request.path}: /healthz in ${slowestMs.toFixed(0)} ms at most\n`,
  );
  const { cpuMs, miB } = await usage();
  for (const socket of sockets) socket.destroy();
  return { cpuMs: cpuMs - before.cpuMs, miB };
}

const publicPaths = [
  ...['/openapi.json', '/asyncapi.json', '/docs', '/docs/json', '/docs/yaml', '/docs/static/swagger-ui.css'],
  ...['/docs/static/swagger-ui-bundle.js', '/healthz', '/readyz', '/'],
].map((path) => ({ path, portName: 'http' as const, count: 2_000 }));

describe.each([...publicPaths, { path: '/metrics', portName: 'internal' as const, count: 1_600 }])(
  '$count requests of $path that nobody reads',
  ({ path, portName, count }) => {
    test.each([1, 20])('cost at most 32 MiB and 200 ms of the processor, over %d connections', async (connections) => {
      const port = ports[portName];
      // The heap grows with the first requests of a page, also if their responses are read.
      for (let nth = 0; nth < 8; nth++)
        await readStatuses(await sendPipelined({ port, path, count: 20, isClosed: true }));
      const quiet = await attack({ port, path, count: 1 }, 1);
      let growthMiB = 0;
      const cpuMs = await findLeast('ms of processor time', 200, async () => {
        const after = await attack({ port, path, count: count / connections }, connections);
        growthMiB = after.miB - quiet.miB;
        return after.cpuMs - quiet.cpuMs;
      });
      expect(cpuMs).toBeLessThan(200);
      expect(growthMiB).toBeLessThan(32);
    });
  },
);
