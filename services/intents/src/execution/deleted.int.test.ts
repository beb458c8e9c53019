import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ExecutionHarness, startExecutionHarness } from '../../test/execution-harness.ts';

let used: ExecutionHarness;

beforeAll(async () => {
  used = await startExecutionHarness();
});
afterAll(() => used.stop());

/** Executes an intent, and lets the backend system respond once `release` is called. */
async function executeSlowly(id: number) {
  used.backend.requests = [];
  const { promise, resolve: release } = Promise.withResolvers<void>();
  used.backend.respond = (_, response) => void promise.then(() => response.end('{}'));
  const headers = { 'idempotency-key': `first-${id}` };
  const first = used.request('POST', `/intent/${id}/execute`, { body: { informCustomer: true }, headers });
  await expect.poll(() => used.backend.requests.length).toBe(1);
  return { first, release, txId: used.backend.requests[0]?.headers['idempotency-key'] };
}

/** Deletes the ticket of an intent, and the intent, as the consumer of deletions does. */
async function deleteTicket(ticketId: number): Promise<void> {
  used.model.tickets.delete(ticketId);
  await used.intents.erase([ticketId]);
}

// guarantee: F21
test('of a ticket that is deleted during a backend call its caller gets the outcome, the others its txId, and the log has both', async () => {
  const logged = vi.spyOn(used.running.log, 'info');
  const lines = () => logged.mock.calls.map(([fields]) => fields);
  const id = await used.intent();
  const { aiAgentId, ticketId = 0 } = (await used.intents.find(id)) ?? {};
  const { first, release, txId } = await executeSlowly(id);
  const call = { txId, intentId: id, aiAgentId, ticketId };
  expect(lines()).toEqual([call]);
  const other = await used.startInstance();
  const reads = vi.spyOn(mongoose.mongo.Collection.prototype, 'findOne');
  const urls = [used.url, `http://127.0.0.1:${other.ports.http}`];
  const waiting = Array.from({ length: 11 }, (_, nth) =>
    used.request('POST', `/intent/${id}/execute`, { url: urls[nth % 2] ?? '', caller: { profileId: 7 + (nth % 3) } }),
  );
  // Each of them has read that the intent is being executed.
  const readsOfIntent = () => reads.mock.calls.filter(([filter]) => (filter as { _id?: unknown })?._id === id).length;
  await expect.poll(readsOfIntent, { timeout: 5_000 }).toBeGreaterThan(33);
  reads.mockRestore();
  await deleteTicket(ticketId);
  release();
  const { status, json } = await first;
  expect([status, json]).toMatchObject([200, { success: true, responseCode: 'ok', txId, sent: false }]);
  const title = 'Intent not found';
  const detail = `${title}: it was deleted during its execution ${txId}, which the log names.`;
  for (const refused of await Promise.all(waiting)) {
    expect([refused.status, refused.json]).toMatchObject([404, { code: 'intent_not_found', title, detail }]);
  }
  expect(used.backend.requests).toHaveLength(1);
  expect(lines().filter((fields) => 'intentId' in Object(fields))).toEqual([
    call,
    { ...call, responseCode: 'ok', success: true },
  ]);
  logged.mockRestore();
  await other.stop();
});

// guarantee: F21
test('who has called a backend system gets its response, although another process thought that it had died', async () => {
  const id = await used.intent();
  const { first, release, txId } = await executeSlowly(id);
  const expired = { $set: { 'lease.expiresAt': new Date(0) } };
  await used.database.collection('intents').updateOne({ _id: id as never }, expired);
  const other = await used.startInstance();
  const url = `http://127.0.0.1:${other.ports.http}`;
  const second = await used.request('POST', `/intent/${id}/execute`, { url });
  expect(second.json).toMatchObject({ responseCode: 'unknown', txId });
  release();
  expect((await first).json).toMatchObject({ responseCode: 'ok', success: true, txId });
  expect(used.backend.requests).toHaveLength(1);
  await other.stop();
});
