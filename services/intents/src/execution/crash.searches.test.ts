import { Code, ConnectError } from '@connectrpc/connect';
import { type IntentOutcome, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ExecutionHarness, startExecutionHarness } from '../../test/execution-harness.ts';

let used: ExecutionHarness;

beforeAll(async () => {
  used = await startExecutionHarness();
});
afterAll(() => used.stop());
beforeEach(() => {
  Object.assign(used.model, { replies: [], records: [], before: () => undefined });
  Object.assign(used.backend, { requests: [] });
});

/** Ends the lease of the process that has died, as time does. */
async function expireLease(id: number): Promise<void> {
  const filter = { _id: id as never, lease: { $ne: null } };
  await used.database.collection('intents').updateOne(filter, { $set: { 'lease.expiresAt': new Date(0) } });
}

const countMatching = <Item>(items: readonly Item[], key: (item: Item) => string) => {
  return Math.max(0, ...Object.values(Object.groupBy(items, key)).map((some) => some?.length ?? 0));
};

test.each([
  ['an HTTP call', () => ({ type: 'http', url: used.backend.url })],
  ['a change of the ticket', () => ({ type: 'updateTicket', fields: { priority: 'urgent' } })],
])(
  // guarantee: F20
  '%s is made at most once, and is finished, wherever the process dies between writes',
  async (_, executor) => {
    const writes = await crashAtEachWrite(async (nth, when) => {
      const { requests } = used.backend;
      Object.assign(used.model, { replies: [], records: [] });
      requests.length = 0;
      const id = await used.intent({ executor: executor() });
      const hasCrashed = await crashAtWrite(
        nth,
        when,
        async () => {
          await used.execute(id, { informCustomer: true });
        },
        { isWholeProcess: true },
      );
      await expireLease(id);
      const { json } = await used.execute(id, { informCustomer: true });
      const outcome = (await used.intents.find(id))?.outcome;
      const { replies, records } = used.model;
      expect(json.txId).toBe(outcome?.txId);
      expect(countMatching(replies, ({ key }) => key)).toBeLessThanOrEqual(1);
      expect(countMatching(records, ({ executionId }) => executionId)).toBeLessThanOrEqual(1);
      if (json.success) {
        expect(json).toMatchObject({ sent: true, ticketClosed: true });
        expect([replies.length, records.at(-1)?.close]).toEqual([1, true]);
      } else {
        expect(json).toMatchObject({ responseCode: 'unknown', sent: false, ticketClosed: false });
        expect(replies).toEqual([]);
      }
      if (executor().type === 'http') {
        // One more call is made only where the claim was not stored.
        expect(requests.length).toBeLessThanOrEqual(1);
        expect(requests.length === 1 || json.responseCode === 'unknown').toBe(true);
      } else expect(json.success).toBe(true);
      expect(await used.intents.find(id)).toMatchObject({ status: TicketIntentStatus.EXECUTED, execution: null });
      return hasCrashed;
    });
    expect(writes).toBeGreaterThanOrEqual(4);
  },
);

// guarantee: F20
test('after a process has died during the call nobody repeats it: the outcome is unknown', async () => {
  const id = await used.intent({ executor: { type: 'http', url: used.backend.url, timeoutMs: 20_000 } });
  // As the process leaves it: claimed, and nothing else.
  let respondLate = (): void => undefined;
  used.backend.respond = (_, response) => {
    respondLate = () => void response.end('{}');
  };
  const instance = await used.startInstance();
  const url = `http://127.0.0.1:${instance.ports.http}`;
  const dying = used.request('POST', `/intent/${id}/execute`, { url, body: {} }).catch(() => undefined);
  await expect.poll(() => used.backend.requests.length).toBe(1);
  await used.database.collection('intents').updateOne({ _id: id as never }, { $set: { 'lease.owner': 'nobody' } });
  await expireLease(id);
  used.backend.respond = (_, response) => response.end('{}');
  const { json } = await used.execute(id);
  expect(json).toMatchObject({ responseCode: 'unknown', success: false, internalData: { error: 'process_ended' } });
  expect((await used.execute(id)).json).toEqual(json);
  expect(used.backend.requests).toHaveLength(1);
  expect(used.model.records).toMatchObject([{ intents: [{ outcome: { responseCode: 'unknown' } }] }]);
  // The late process does not overwrite the outcome that the others know, although it has the response.
  respondLate();
  await dying;
  await instance.stop();
  expect((await used.execute(id)).json).toEqual(json);
});

test('a request that created its intent gets the outcome also if its repetition would be refused now', async () => {
  const executor = { type: 'http', url: used.backend.url };
  const agentId = await used.agent({ name: 'Once', slug: 'once', executor });
  const body = { code: 'once', ticketId: used.ticket().id };
  const send = () => used.request('POST', '/intent/0/execute', { body, headers: { 'idempotency-key': 'once' } });
  used.model.before = (operation) => {
    if (operation === 'record') throw new ConnectError('unavailable', Code.Unavailable);
  };
  expect((await send()).status).toBe(503);
  used.model.before = () => undefined;
  await used.manage('PATCH', `/aiAgent/${agentId}`, { enabled: false });
  const running = { state: 'running' as never };
  await used.database.collection('idempotencyKeys').updateOne(running, { $set: { 'lease.expiresAt': new Date(0) } });
  const { status, json } = await send();
  expect([status, json]).toMatchObject([200, { success: true, txId: expect.stringMatching(/^tx_/) }]);
  expect((await send()).json).toEqual(json);
  expect(used.backend.requests).toHaveLength(1);
});

test('a request that waits for its own execution keeps its key, so that the next attempt calls nobody', async () => {
  const executor = { type: 'http', url: used.backend.url, timeoutMs: 20_000 };
  await used.agent({ name: 'Waits', slug: 'waits', executor });
  const body = { code: 'waits', ticketId: used.ticket().id };
  const send = () => used.request('POST', '/intent/0/execute', { body, headers: { 'idempotency-key': 'waits' } });
  const expireKey = () =>
    used.database
      .collection('idempotencyKeys')
      .updateMany({ state: 'running' as never }, { $set: { 'lease.expiresAt': new Date(0) } });
  let respondLate = (): void => undefined;
  used.backend.respond = (_, response) => {
    respondLate = () => void response.end('{}');
  };
  const first = send();
  await expect.poll(() => used.backend.requests.length).toBe(1);
  await expireKey();
  const second = await used.whileTimePasses(send());
  expect([second.status, second.json.code]).toEqual([409, 'intent_running']);
  respondLate();
  await first;
  used.backend.respond = (_, response) => response.end('{}');
  await expireKey();
  expect((await send()).json).toMatchObject({ success: true });
  expect(used.backend.requests).toHaveLength(1);
});

// guarantee: F20
test('the scheduler finishes what a process that died has begun', async () => {
  const id = await used.intent({ executor: { type: 'closeTicket' } });
  const hasBegun = async () => (await used.intents.find(id))?.execution !== null;
  // The first write can also be one in the background of this process.
  for (let attempt = 0; attempt < 5 && !(await hasBegun()); attempt++) {
    await crashAtWrite(
      1,
      'after',
      async () => {
        await used.execute(id, { informCustomer: true });
      },
      { isWholeProcess: true },
    );
  }
  expect(await hasBegun()).toBe(true);
  await expireLease(id);
  const scheduler = await used.startInstance({ TICKETING_INTENTS_ROLES: 'api,scheduler' });
  const ended = async (): Promise<IntentOutcome | null | undefined> => {
    const intent = await used.intents.find(id);
    return intent?.execution === null ? intent.outcome : undefined;
  };
  await expect.poll(ended).toMatchObject({ success: true, sent: true, ticketClosed: true });
  await scheduler.stop();
  expect(used.model.replies).toHaveLength(1);
});

// guarantee: F25
test('fifty executions that cannot be finished delay no other one', async () => {
  const intent = () => used.intent({ executor: { type: 'closeTicket' } });
  const stuck = await Promise.all(Array.from({ length: 50 }, intent));
  const last = await intent();
  used.model.before = (operation) => {
    if (operation === 'record') throw new ConnectError('unavailable', Code.Unavailable);
  };
  for (const id of [...stuck, last]) expect((await used.execute(id)).status).toBe(503);
  const ticketId = (await used.intents.find(last))?.ticketId;
  used.model.before = (operation, id) => {
    if (operation === 'record' && id !== ticketId) throw new ConnectError('unavailable', Code.Unavailable);
  };
  const scheduler = await used.startInstance({ TICKETING_INTENTS_ROLES: 'api,scheduler' });
  await expect.poll(async () => (await used.intents.find(last))?.execution).toBeNull();
  await scheduler.stop();
  expect(used.model.records).toHaveLength(1);
});
