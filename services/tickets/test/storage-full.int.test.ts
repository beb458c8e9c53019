import { mongo } from 'mongoose';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

const roomy = { total: 100, free: 100 };
let disk = roomy;
let tickets: TicketsHarness;
const admin = { roleId: 1 };

beforeAll(async () => {
  tickets = await startHarness({ readDisk: async () => disk });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await setDisk(roomy);
});
afterAll(() => tickets.stop());

const create = (headers: Record<string, string> = {}) =>
  tickets.request('POST', '/ticket', { headers, body: { channel: 'chat' } });
const count = (collection: string) => tickets.database.collection(collection).countDocuments();

/** Waits until the service has read the disk. */
async function setDisk(next: typeof disk) {
  disk = next;
  const code = next.free < 5 ? 'storage_full' : 'ticket_not_found';
  const probe = () => tickets.request('PATCH', '/ticket/999999', { body: { priority: 'high' } });
  await expect.poll(async () => (await probe()).json.code).toBe(code);
}

// guarantee: F1
test('below the reserve all that writes is 503 with Retry-After and changes nothing; reads and deletions go on', async () => {
  const [{ json: ticket }, { json: other }] = [await create(), await create()];
  await setDisk({ total: 100, free: 4 });
  const before = await Promise.all([count('tickets'), count('idempotencyKeys')]);
  const key = { 'idempotency-key': 'later' };
  const writes = [
    create(key),
    tickets.request('PATCH', `/ticket/${ticket.id}`, { body: { priority: 'high' } }),
    tickets.request('PATCH', '/ticket', { body: [{ id: ticket.id, priority: 'high' }] }),
    tickets.request('POST', `/ticket/${ticket.id}/conversation/reply`, {
      body: { content: { message: 'a', type: 'text' } },
    }),
    tickets.request('POST', '/tag', { caller: admin, body: { name: 'a' } }),
  ];
  for (const { status, json, headers } of await Promise.all(writes)) {
    expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'storage_full', '5']);
  }
  const [status, body] = await tickets.rpc('TicketService/CreateTicket', { channel: 'CHANNEL_CHAT' });
  expect([status, body.code]).toEqual([503, 'unavailable']);
  expect(await Promise.all([count('tickets'), count('idempotencyKeys')])).toEqual(before);
  expect((await tickets.request('GET', `/ticket/${ticket.id}`)).json.version).toBe(ticket.version);
  expect((await tickets.request('POST', '/ticket/search', { body: {} })).status).toBe(200);
  expect((await tickets.request('DELETE', `/ticket/${other.id}`, { caller: admin })).status).toBeLessThan(300);
  await setDisk(roomy);
  expect((await create(key)).status).toBe(200);
});

test.each([
  ['by its code', { code: 14_031, message: 'disk is full' }],
  ['in the words of the system', { code: 8, message: '28: No space left on device' }],
])('an error of the database that its disk is full, said %s, is 503 storage_full by REST and RPC', async (_, error) => {
  const { json: ticket } = await create();
  for (const name of ['insertOne', 'insertMany', 'updateOne', 'findOneAndUpdate', 'bulkWrite'] as const) {
    vi.spyOn(mongo.Collection.prototype, name).mockRejectedValue(new mongo.MongoServerError(error));
  }
  const { status, json, headers } = await create();
  expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'storage_full', '5']);
  const rpc = await tickets.rpc('TicketService/CreateTicket', { channel: 'CHANNEL_CHAT' });
  expect([rpc[0], rpc[1].code]).toEqual([503, 'unavailable']);
  vi.restoreAllMocks();
  expect((await tickets.request('GET', `/ticket/${ticket.id}`)).status).toBe(200);
});

test('the metrics say how much is free, and how much is kept', async () => {
  await setDisk({ total: 100, free: 4 });
  const text = await (await fetch(`http://127.0.0.1:${tickets.running.ports.internal}/metrics`)).text();
  expect(text).toContain('store_free_bytes{service="tickets"} 4');
  expect(text).toContain('store_reserve_bytes{service="tickets"} 5');
});
