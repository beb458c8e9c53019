import { Code, ConnectError } from '@connectrpc/connect';
import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExecutionHarness, startExecutionHarness } from '../../test/execution-harness.ts';

let used: ExecutionHarness;

beforeAll(async () => {
  used = await startExecutionHarness();
});
afterAll(() => used.stop());

const options = [{ type: 'enter', name: 'Enter', recommended: true, order: 1 }];
const http = () => ({ type: 'http', url: `${used.backend.url}/do?key=secret`, method: 'POST' });

async function withExecutor(executor: object): Promise<number> {
  const id = await used.intent({ executor: { type: 'none' }, options });
  const { aiAgentId = 0 } = (await used.intents.find(id)) ?? {};
  const filter = { _id: aiAgentId as never };
  await used.database.collection('aiAgents').updateOne(filter, { $set: { executor: JSON.stringify(executor) } });
  return id;
}

test.each([
  ['http', http, false],
  ['http', http, true],
  ['reply', () => ({ type: 'reply', templateId: 12 }), false],
  ['closeTicket', () => ({ type: 'closeTicket' }), false],
  ['updateTicket', () => ({ type: 'updateTicket', fields: { priority: 'urgent' } }), true],
  ['none', () => ({ type: 'none' }), true],
  // guarantee: I22
])('the outcome of a dry run of %s is that of the plan', async (type, executor, informs) => {
  const whole = { headers: {}, secret: null, timeoutMs: 1000, responseMapping: {} };
  const id = await withExecutor({ ...(type === 'http' ? whole : {}), ...executor() });
  const { status, json } = await used.execute(id, { dryRun: true, informCustomer: informs, data: { day: 1 } });
  expect(status).toBe(200);
  const { txId: _, internalData, ...outcome } = json as Record<string, unknown> & { internalData: { url?: string } };
  if (internalData.url) internalData.url = internalData.url.replace(/:\d+/, '');
  await golden(`dry-run-${type}${informs ? '-informed' : ''}`, { ...outcome, aiAgentId: 1, internalData });
  // The execution afterwards has the outcome that the dry run predicted.
  const { json: done } = await used.execute(id, { informCustomer: informs, data: { day: 1 } });
  const { success, sent, ticketClosed, recipient, template } = outcome;
  expect(done).toMatchObject({ success, sent, ticketClosed, recipient, template });
});

// spec: 29.7
test('a dry run without an intent creates none', async () => {
  await used.agent({ name: 'Refund', slug: 'refund', executor: http() });
  const { id: ticketId } = used.ticket();
  const body = { code: 'refund', ticketId, dryRun: true };
  const { json } = await used.execute(0, body);
  expect(json).toMatchObject({ success: true, responseCode: 'dry_run' });
  expect(await used.intents.ofTicket(ticketId)).toEqual([]);
});

test.each([
  ['record', { type: 'updateTicket', fields: { priority: 'urgent' } }],
  ['render', { type: 'reply', templateId: 12 }],
])('a dry run says what would be refused: %s', async (operation, executor) => {
  const id = await withExecutor(executor);
  used.model.before = (one) => {
    if (one === operation) throw new ConnectError('refused', Code.InvalidArgument);
  };
  const { json } = await used.execute(id, { dryRun: true });
  used.model.before = () => undefined;
  expect(json).toMatchObject({ success: false, responseCode: 'invalid_argument', sent: false, ticketClosed: false });
});

// spec: 29.11
test('a dry run of an intent that was executed shows its outcome, and one that is not accepted is refused', async () => {
  const id = await used.intent({ options });
  const { status, json } = await used.execute(id, { dryRun: true, contractId: 'V-2' });
  expect([status, json.code]).toEqual([409, 'contract_mismatch']);
  const done = await used.execute(id);
  expect((await used.execute(id, { dryRun: true })).json).toEqual(done.json);
});
