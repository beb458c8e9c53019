import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { type DatabaseForwarder, openDatabaseForwarder } from '@ticketing/testkit/database-forwarder.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { service as ticketsService } from '../src/service.ts';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
let service: RunningService;
let forwarder: DatabaseForwarder;
let url: string;

beforeAll(async () => {
  tickets = await startHarness();
  forwarder = await openDatabaseForwarder();
  await forwarder.close();
  service = await ticketsService.start({
    ...tickets.environment,
    TICKETING_TICKETS_MONGODB_URI: forwarder.uri,
  });
  url = `http://127.0.0.1:${service.ports.http}`;
});
afterAll(async () => {
  await service.stop();
  await forwarder.close();
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
  await forwarder.open();
  await expect.poll(readiness, { timeout: 15_000 }).toBe(200);
  expect((await create()).status).toBe(200);
});

test('responds with 503 while its database is unreachable, and recovers by itself', { timeout: 60_000 }, async () => {
  await forwarder.close();
  await expectUnavailable();
  await expect.poll(readiness, { timeout: 15_000 }).toBe(503);
  await forwarder.open();
  await expect.poll(readiness, { timeout: 15_000 }).toBe(200);
  expect((await create()).status).toBe(200);
});
