import { ConfidenceColor, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { skipWaits } from '@ticketing/testkit/skip-waits.ts';
import { expect, test, vi } from 'vitest';
import type { ExecutionState } from '../intent/rules/execution.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import { type ActionResult, noMessage } from './rules/backend-response.ts';
import { type RunContext, runExecution } from './run.ts';

const execution: ExecutionState = {
  ...{ txId: 'tx_1', step: 'call', startedAt: 0, caller: null, option: null, data: {}, informsCustomer: false },
  ...{ templateId: null, fields: null, languageCode: null, closesTicket: false },
};
const intent: IntentState = {
  ...{ id: 7, ticketId: 3, aiAgentId: 4, code: 'a', name: 'A', contractId: null, confidence: null },
  ...{ confidenceColor: ConfidenceColor.SUCCESS, messagePreview: null, recipient: null, data: null, options: [] },
  ...{ infos: [], autoExecuteAt: null, verified: false, status: TicketIntentStatus.READY, outcome: null },
  ...{ proposedBy: 'analysis', execution },
};
const done: ActionResult = {
  ...{ kind: 'success', responseCode: 'ok', ...noMessage, internalData: {} },
};

/** How long an attempt to reach a database takes that is unavailable. */
const attemptMs = 2_000;

/** Executes while the database fails for a time after the call. Returns how often the backend system was called too. */
async function execute(failsMs: number, log = createLogger('test', 'silent'), reason = 'store_unavailable') {
  skipWaits();
  let now = 0;
  const callBackend = vi.fn(async () => done);
  const store = async () => {
    if (now >= failsMs) return true;
    now += attemptMs;
    throw new DomainError('unavailable', reason, 'The store fails.');
  };
  const context = {
    executions: { advance: store, release: store, renew: store, inProgress: new Map() },
    tickets: { recordExecution: async () => undefined },
    log,
    runtime: { now: () => 0, monotonicMs: () => now },
  } as unknown as RunContext;
  const running = runExecution(context, { intent, claim: { id: 7, owner: 'me' } }, { callBackend });
  const outcome = await running.then(
    (one) => one?.responseCode,
    (error) => error.reason,
  );
  return [outcome, callBackend.mock.calls.length];
}

// guarantee: F22
test('a result that only this process knows is stored when the database is back in time', async () => {
  expect(await execute(14_000)).toEqual(['ok', 1]);
});

test('a result that only this process knows is stored when the database has space in time', async () => {
  expect(await execute(14_000, undefined, 'storage_full')).toEqual(['ok', 1]);
});

test('a result that the database refuses for another reason is not tried again', async () => {
  expect(await execute(14_000, undefined, 'bus_unavailable')).toEqual(['bus_unavailable', 1]);
});

test('a database that stays unavailable is not waited for longer', async () => {
  expect(await execute(20_000)).toEqual(['store_unavailable', 1]);
});

// spec: 10.13
test('a backend call is in the log before and after, and the execution with the txId of its outcome', async () => {
  const lines: string[] = [];
  await execute(0, createLogger('test', 'info', { write: (line: string) => void lines.push(line) }));
  const names = { txId: 'tx_1', intentId: 7, ticketId: 3 };
  const result = { responseCode: 'ok', success: true };
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { ...names, aiAgentId: 4, msg: 'a backend system is called' },
    { ...names, aiAgentId: 4, ...result, msg: 'a backend system was called' },
    { ...names, ...result, msg: 'intent executed' },
  ]);
});

test('a step of an execution that another process goes on with is refused with its txId', async () => {
  const context = {
    executions: { advance: async () => false, release: async () => false, inProgress: new Map() },
    intents: { find: async () => intent },
    tickets: { recordExecution: async () => undefined },
    log: createLogger('test', 'silent'),
    runtime: { now: () => 0 },
  } as unknown as RunContext;
  const applied = { ...intent, execution: { ...execution, step: 'apply' as const } };
  const running = runExecution(context, { intent: applied, claim: { id: 7, owner: 'me' } });
  await expect(running).rejects.toMatchObject({
    reason: 'execution_taken_over',
    message: expect.stringContaining('tx_1'),
  });
});
