import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServiceTls } from '@ticketing/service-kit/tls/service-tls.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type UpstreamAgent, upstreamAgent } from '../../services/gateway/src/proxy/upstream-agent.ts';
import { firstShare, shareProblem } from './shares.ts';
import { startBalancer } from './tcp-balancer.ts';

test('two replicas may get 40 to 60 % of the requests, and must get some', () => {
  expect([0.4, 0.5, 0.6].map(shareProblem)).toEqual([undefined, undefined, undefined]);
  expect(shareProblem(0.399)).toContain('39.9 %');
  expect(shareProblem(0.601)).toContain('60.1 %');
  expect(shareProblem(firstShare([3, 4], [3, 4]))).toBe('neither has got a request');
  expect(firstShare([10, 20], [14, 26])).toBe(0.4);
});

// guarantee: F36
test('the gateway gives both replicas of a service between 40 and 60 % of few requests and of many', async () => {
  const { agent, ports, balancer, counts } = await start();
  balancer.use(ports);
  await send(agent, balancer.port, 8);
  for (const atOnce of [1, 2, 8]) {
    counts.fill(0);
    for (let sent = 0; sent < 80; sent += atOnce) await send(agent, balancer.port, atOnce);
    expect(shareProblem(firstShare([0, 0], counts)), `${atOnce} at once: ${counts}`).toBeUndefined();
  }
});

// guarantee: F36
test('a replica that joins gets its share when the connections have reached their age', async () => {
  const { agent, ports, balancer, counts } = await start();
  balancer.use(ports.slice(0, 1));
  await send(agent, balancer.port, 8);
  balancer.use(ports);
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now });
  onTestFinished(() => void vi.useRealTimers());
  await send(agent, balancer.port, 8);
  expect(counts).toEqual([16, 0]);
  vi.setSystemTime(now + 61_000);
  await send(agent, balancer.port, 8);
  counts.fill(0);
  for (let sent = 0; sent < 80; sent += 2) await send(agent, balancer.port, 2);
  expect(shareProblem(firstShare([0, 0], counts)), String(counts)).toBeUndefined();
});

const withoutTls: ServiceTls = {
  listener: undefined,
  files: () => ({ cert: undefined, key: undefined, ca: undefined, clientCa: undefined }),
  onChange: () => () => undefined,
  close: () => undefined,
};

/** Starts two replicas that count their requests, a balancer in front of them, and the client of the gateway. */
async function start() {
  const counts = [0, 0];
  const ports = await Promise.all(
    counts.map((_, index) =>
      serve(() => {
        counts[index] = (counts[index] ?? 0) + 1;
      }),
    ),
  );
  const balancer = await startBalancer();
  onTestFinished(() => balancer.close());
  const agent = upstreamAgent(5_000, withoutTls);
  onTestFinished(() => agent.close());
  return { agent, ports, balancer, counts };
}

async function serve(onRequest: () => void): Promise<number> {
  const server = createServer((_, response) => {
    onRequest();
    // After a moment, so that requests that are sent at once need as many connections.
    setImmediate(() => response.setHeader('content-type', 'application/json').end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function send(agent: UpstreamAgent, port: number, atOnce: number): Promise<void> {
  await Promise.all(Array.from({ length: atOnce }, () => agent.getJson(`http://127.0.0.1:${port}`, '/', 5_000)));
}
