import { setImmediate } from 'node:timers/promises';
import { create as createMessage } from '@bufbuild/protobuf';
import { SearchTicketsRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { type DatabaseForwarder, openDatabaseForwarder } from '@ticketing/testkit/database-forwarder.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { service as ticketsService } from '../src/service.ts';
import { startHarness, type TicketsHarness } from './harness.ts';
import { newProcess } from './new-process.ts';

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
  const refused = await create();
  expect(refused.status).toBe(503);
  expect(refused.json.code).toBe('store_unavailable');
  expect(refused.headers.get('retry-after')).toBe('1');
}

// guarantee: F5
test('starts without its database, responds with 503, and works as soon as the database is available', async () => {
  expect(await readiness()).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await expectUnavailable();
  await forwarder.open();
  await expect.poll(readiness).toBe(200);
  expect((await create()).status).toBe(200);
});

// guarantee: F6
test('responds with 503 while its database is unreachable, and recovers by itself', async () => {
  await forwarder.close();
  await expectUnavailable();
  await expect.poll(readiness).toBe(503);
  await forwarder.open();
  await expect.poll(readiness).toBe(200);
  expect((await create()).status).toBe(200);
});

// guarantee: F6
test('every request responds with 503 while its database hangs, searches too', async () => {
  const { id } = (await create()).json;
  const filters = [{ key: 't.status', comparator: '=', value: 'open' }];
  const requests = [
    ['POST', '/ticket', { channel: 'chat' }],
    ['GET', `/ticket/${id}`, undefined],
    ['GET', '/tag', undefined],
    ['POST', '/ticket/search', { limit: 20 }],
    ['POST', '/ticket/search', { limit: 20, offset: 5, filters }],
  ] as const;
  forwarder.freeze();
  // First while nobody knows yet that the database hangs, then when its heartbeat has failed.
  for (const state of ['not noticed', 'noticed']) {
    const refusals = await Promise.all(
      requests.map(async ([method, path, body]) => {
        const { status, json } = await tickets.request(method, path, { body, url });
        return { state, path, status, code: json.code };
      }),
    );
    for (const refusal of refusals) expect(refusal).toMatchObject({ status: 503, code: 'store_unavailable' });
  }
  forwarder.thaw();
  await expect.poll(readiness).toBe(200);
  expect((await create()).status).toBe(200);
});

test('a search whose tags cannot be read fails, and the process does not', async () => {
  const database = await tickets.openDatabase();
  const context = newProcess(tickets, database);
  context.tags.recentTree = async () => {
    throw new DomainError('unavailable', 'store_unavailable', 'The database is unavailable.');
  };
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const search = context.searchTickets(testCall(), createMessage(SearchTicketsRequestSchema));
  await expect(search).rejects.toMatchObject({ reason: 'store_unavailable' });
  await setImmediate();
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
  await database.close();
});
