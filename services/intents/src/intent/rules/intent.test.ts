import { TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { expect, test } from 'vitest';
import type { ExecutionState } from './execution.ts';
import { type IntentState, nextAutoExecution } from './intent.ts';

const { READY, EXECUTED } = TicketIntentStatus;
const at = (autoExecuteAt: number | null, changes: Partial<IntentState> = {}) =>
  ({ status: READY, execution: null, autoExecuteAt, ...changes }) as IntentState;

test('the system executes next what is ready and has the earliest time', () => {
  expect(nextAutoExecution([at(null), at(30), at(20), at(10, { status: EXECUTED })])).toBe(20);
  expect(nextAutoExecution([at(null)])).toBeNull();
});

test('what is being executed has no time any more: its own record says what comes next', () => {
  expect(nextAutoExecution([at(10, { execution: {} as ExecutionState }), at(20)])).toBe(20);
});
