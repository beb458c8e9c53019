import { connect, createServer, type Server, type Socket } from 'node:net';
import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { service as ticketsService } from '../src/service.ts';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
let service: RunningService;
let forwarder: Server;
let url: string;
const sockets = new Set<Socket>();
let port = 0;

/** Forwards connections to the database until it is closed. */
function openForwarder(): Promise<void> {
  const target = new URL(inject('mongodbUri').replace('mongodb:', 'http:'));
  forwarder = createServer((socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const end of [socket, upstream]) {
      sockets.add(end);
      end.on('error', () => undefined);
    }
    socket.pipe(upstream).pipe(socket);
  });
  return new Promise((resolve) => {
    forwarder.listen(port, '127.0.0.1', () => {
      const address = forwarder.address();
      port = typeof address === 'object' && address ? address.port : 0;
      resolve();
    });
  });
}

async function disconnect(): Promise<void> {
  const closed = new Promise((resolve) => forwarder.close(resolve));
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await closed;
}

beforeAll(async () => {
  tickets = await startHarness();
  await openForwarder();
  await disconnect();
  service = await ticketsService.start({
    ...tickets.environment,
    TICKETING_TICKETS_MONGODB_URI: `mongodb://127.0.0.1:${port}/?directConnection=true`,
  });
  url = `http://127.0.0.1:${service.ports.http}`;
});
afterAll(async () => {
  await service.stop();
  await disconnect();
  await tickets.stop();
});

const readiness = async () => (await fetch(`${url}/readyz`)).status;
const create = () => tickets.request('POST', '/ticket', { body: { channel: 'chat' }, url });

async function expectUnavailable(): Promise<void> {
  const startedAt = performance.now();
  const refused = await create();
  expect(refused.status).toBe(503);
  expect(refused.json.code).toBe('store_unavailable');
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(performance.now() - startedAt).toBeLessThan(2500);
}

test('starts without its database, responds with 503, and works as soon as the database is available', {
  timeout: 60_000,
}, async () => {
  expect(await readiness()).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await expectUnavailable();
  await openForwarder();
  await expect.poll(readiness, { timeout: 15_000 }).toBe(200);
  expect((await create()).status).toBe(200);
});

test('responds with 503 while its database is unreachable, and recovers by itself', { timeout: 60_000 }, async () => {
  await disconnect();
  await expectUnavailable();
  await expect.poll(readiness, { timeout: 15_000 }).toBe(503);
  await openForwarder();
  await expect.poll(readiness, { timeout: 15_000 }).toBe(200);
  expect((await create()).status).toBe(200);
});
