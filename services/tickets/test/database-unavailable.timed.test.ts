import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { type DatabaseForwarder, openDatabaseForwarder } from '@ticketing/testkit/database-forwarder.ts';
import { untilReady } from '@ticketing/testkit/until-ready.ts';
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
  service = await ticketsService.start({ ...tickets.environment, TICKETING_TICKETS_MONGODB_URI: forwarder.uri });
  url = `http://127.0.0.1:${service.ports.http}`;
  await untilReady(url);
});
afterAll(async () => {
  await service.stop();
  await forwarder.close();
  await tickets.stop();
});

/** Requests wait up to 2 s for the database; the rest is for a busy machine. */
const limitMs = 4_000;

async function timedRefusal(method: string, path: string, body?: object): Promise<number> {
  const startedAt = performance.now();
  const { status } = await tickets.request(method, path, { body, url });
  expect(status).toBe(503);
  return performance.now() - startedAt;
}

// guarantee: F6
test('every request responds with 503 within 2 s while its database hangs, searches too', async () => {
  const { id } = (await tickets.request('POST', '/ticket', { body: { channel: 'chat' }, url })).json;
  const filters = [{ key: 't.status', comparator: '=', value: 'open' }];
  forwarder.freeze();
  // First while nobody knows yet that the database hangs, then when its heartbeat has failed.
  for (const state of ['not noticed', 'noticed']) {
    const times = await Promise.all([
      timedRefusal('POST', '/ticket', { channel: 'chat' }),
      timedRefusal('GET', `/ticket/${id}`),
      timedRefusal('GET', '/tag'),
      timedRefusal('POST', '/ticket/search', { limit: 20 }),
      timedRefusal('POST', '/ticket/search', { limit: 20, offset: 5, filters }),
    ]);
    expect(Math.max(...times), `${state}: ${times}`).toBeLessThan(limitMs);
  }
  forwarder.thaw();
  await untilReady(url);
});

// guarantee: F6
test('a request responds with 503 within 2 s while its database is unreachable', async () => {
  await forwarder.close();
  expect(await timedRefusal('POST', '/ticket', { channel: 'chat' })).toBeLessThan(limitMs);
  await forwarder.open();
  await untilReady(url);
});
