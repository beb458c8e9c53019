import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ExecutionHarness, startExecutionHarness } from '../../test/execution-harness.ts';

type FindOne = (this: unknown, filter: { _id?: unknown }, options: unknown) => Promise<unknown>;

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

/** Holds the results of the first reads of an intent, and of as many after them, until they are released. */
function holdReads(id: number, size: number) {
  const { prototype } = mongoose.mongo.Collection as unknown as { prototype: { findOne: FindOne } };
  const { findOne } = prototype;
  const rounds = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  vi.spyOn(prototype, 'findOne').mockImplementation(async function (this: unknown, filter, options) {
    const found = await findOne.call(this, filter, options);
    if (filter._id === id) {
      count += 1;
      await rounds[Math.ceil(count / size) - 1]?.promise;
    }
    return found;
  });
  let released = 0;
  return { count: () => count, release: () => rounds[released++]?.resolve() };
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
  const callers = 11;
  const reads = holdReads(id, callers);
  const urls = [used.url, `http://127.0.0.1:${other.ports.http}`];
  const waiting = Array.from({ length: callers }, (_, nth) =>
    used.request('POST', `/intent/${id}/execute`, { url: urls[nth % 2] ?? '', caller: { profileId: 7 + (nth % 3) } }),
  );
  // Each of them has read twice that the intent is being executed: when it came, and when it began to wait.
  await expect.poll(reads.count).toBe(callers);
  reads.release();
  await expect.poll(reads.count).toBe(2 * callers);
  await deleteTicket(ticketId);
  reads.release();
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
