import { type IntentOutcome, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { type ExecutionState, stepAfter } from '../intent/rules/execution.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import type { CallBackend } from './backend.ts';
import { type ActionResult, failedRequest } from './rules/backend-response.ts';
import { informText, ownResult, toOutcome } from './rules/outcome.ts';
import type { ExecutionChange } from './store.ts';
import { readRefusal, type TicketCalls, type WrittenMessage } from './tickets.ts';

/** The dependencies of the steps. */
export interface StepContext {
  tickets: TicketCalls;
  runtime: Runtime;
  log: Logger;
}

/** An execution at its next step. */
export interface Step {
  call: OnBehalfOf;
  intent: IntentState;
  execution: ExecutionState;
  /** Undefined if another process has begun the execution. */
  callBackend: CallBackend | undefined;
}

/** The time for which the tickets service deduplicates messages and changes. Older steps are not repeated. */
const repeatableSeconds = 20 * 60 * 60;

/**
 * Makes the next step of an execution, and returns the change of the intent to store. `ExecutionStep` describes the
 * steps, and where an execution may stop.
 *
 * Errors: those of the tickets service, as ConnectError, after which the step can be repeated.
 */
export function makeStep(context: StepContext, step: Step): Promise<ExecutionChange> {
  switch (step.execution.step) {
    case 'call':
      return call(context, step);
    case 'reply':
      return reply(context, step);
    case 'apply':
      return apply(context, step);
    case 'inform':
      return inform(context, step);
    case 'record':
      return record(context, step);
  }
}

/**
 * Calls the backend system. The log says so before and afterwards, so that the call is found whatever happens
 * meanwhile.
 */
async function call({ runtime, log }: StepContext, step: Step): Promise<ExecutionChange> {
  const { intent, execution, callBackend } = step;
  // Nobody knows whether the process that has died had called it.
  if (!callBackend) return settle(step, failedRequest('process_ended', true), runtime);
  const { id: intentId, aiAgentId, ticketId } = intent;
  const names = { txId: execution.txId, intentId, aiAgentId, ticketId };
  log.info(names, 'a backend system is called');
  const result = await callBackend();
  const { responseCode, kind } = result;
  log.info({ ...names, responseCode, success: kind === 'success' }, 'a backend system was called');
  return settle(step, result, runtime);
}

/** Writes the reply of the executor to the customer. */
async function reply({ tickets, runtime }: StepContext, step: Step): Promise<ExecutionChange> {
  const { intent, execution } = step;
  const { txId, templateId, informsCustomer } = execution;
  if (templateId === null) return settle(step, ownResult('failure', 'unknown_template'), runtime);
  return attempt(step, runtime, {
    async work() {
      const message = await tickets.writeMessage(step.call, intent.ticketId, { key: txId, execution });
      const change = settle(step, ownResult('success', 'ok'), runtime);
      return withMessage(change, message, { informs: informsCustomer, template: String(templateId) });
    },
    onRefused: (refusal) => settle(step, refusedResult(refusal, 'reply_failed'), runtime),
  });
}

/** Changes the ticket as the executor says. */
async function apply({ tickets, runtime }: StepContext, step: Step): Promise<ExecutionChange> {
  const { intent, execution } = step;
  const { txId: id, closesTicket } = execution;
  const change = settle(step, ownResult('success', 'ok'), runtime);
  if (change.outcome) change.outcome.ticketClosed = closesTicket;
  const after = { ...intent, ...change, execution: null };
  return attempt(step, runtime, {
    async work() {
      await tickets.recordExecution(step.call, after, { id, execution, changesTicket: true, closesTicket });
      return change;
    },
    onRefused: (refusal) => settle(step, refusedResult(refusal, 'change_failed'), runtime),
  });
}

/** Informs the customer of a success; only then the ticket is closed. */
async function inform({ tickets, runtime, log }: StepContext, step: Step): Promise<ExecutionChange> {
  const { intent, execution } = step;
  const { txId } = execution;
  const { outcome } = intent;
  if (!outcome) throw new Error('there is no outcome to inform about');
  const next: ExecutionChange = { outcome, execution: { ...execution, step: 'record' } };
  return attempt(step, runtime, {
    async work() {
      const text = informText(outcome, execution);
      const message = await tickets.writeMessage(step.call, intent.ticketId, {
        key: `${txId}:inform`,
        text,
        execution,
      });
      return withMessage(next, message, { informs: true });
    },
    onRefused(refusal) {
      const informError = refusal ?? 'inform_failed';
      log.warn({ txId, reason: informError }, 'the customer was not informed');
      return { ...next, outcome: notInformed(outcome, informError) };
    },
  });
}

/** Stores the outcome in the ticket. */
async function record({ tickets, runtime, log }: StepContext, step: Step): Promise<ExecutionChange> {
  const { intent, execution } = step;
  const { txId, closesTicket } = execution;
  const change: ExecutionChange = {
    execution: null,
    ...(intent.outcome && closesTicket ? { outcome: { ...intent.outcome, ticketClosed: true } } : {}),
  };
  const after = { ...intent, ...change, execution: null };
  return attempt(step, runtime, {
    async work() {
      const id = `${txId}:record`;
      await tickets.recordExecution(step.call, after, { id, execution, changesTicket: false, closesTicket });
      return change;
    },
    onRefused(refusal) {
      // The tickets service refuses, or has failed for too long: the outcome stays with the intent.
      log.warn({ txId, reason: refusal ?? 'too_old' }, 'an execution was not recorded in its ticket');
      return { execution: null };
    },
  });
}

/** The call of another service in a step, and the change if it is refused; without a reason, if the step is too old. */
interface Attempt {
  work(): Promise<ExecutionChange>;
  onRefused(refusal: string | undefined): ExecutionChange;
}

/** Calls another service. Errors: those of the call that are no refusal, as long as the step can be repeated. */
async function attempt({ execution }: Step, runtime: Runtime, { work, onRefused }: Attempt): Promise<ExecutionChange> {
  try {
    return await work();
  } catch (error) {
    const refusal = readRefusal(error);
    const isTooOld = secondsNow(runtime) - execution.startedAt > repeatableSeconds;
    if (refusal === undefined && !isTooOld) throw error;
    return onRefused(refusal);
  }
}

/** A refusal is a failure. Nobody knows what has happened in a step that is too old. */
function refusedResult(refusal: string | undefined, tooOldReason: string): ActionResult {
  return refusal === undefined ? failedRequest(tooOldReason, true) : ownResult('failure', refusal);
}

/** Makes the change after which the result of the action is known. */
function settle({ intent, execution }: Step, result: ActionResult, runtime: Runtime): ExecutionChange {
  const outcome = toOutcome(result, execution, { aiAgentId: intent.aiAgentId, now: secondsNow(runtime) });
  const next = result.kind === 'success' ? stepAfter(execution.step, execution.informsCustomer) : 'record';
  const isOver = result.kind !== 'failure';
  return {
    outcome,
    status: isOver ? TicketIntentStatus.EXECUTED : TicketIntentStatus.READY,
    // Cleared after a failure, too: a person decides whether it is tried again.
    autoExecuteAt: null,
    verified: intent.verified || (isOver && execution.caller?.isHuman === true),
    execution: next === undefined ? null : { ...execution, step: next, closesTicket: false },
  };
}

/** Adds a message that was written. If it informs the customer, the ticket is closed, unless the recipient is gone. */
function withMessage(
  { outcome, execution, ...change }: ExecutionChange,
  { isSent, shown }: WrittenMessage,
  { informs, template }: { informs: boolean; template?: string },
): ExecutionChange {
  if (!outcome || !execution) throw new Error('a message belongs to an execution that goes on');
  const written = { ...outcome, ...shown, sent: isSent, ...(template === undefined ? {} : { template }) };
  return {
    ...change,
    outcome: informs && !isSent ? notInformed(written, 'no_recipient') : written,
    execution: { ...execution, closesTicket: informs && isSent },
  };
}

function notInformed(outcome: IntentOutcome, informError: string): IntentOutcome {
  return { ...outcome, internalData: { ...outcome.internalData, informError } };
}
