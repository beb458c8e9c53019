import { setTimeout } from 'node:timers/promises';
import { type IntentOutcome, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace, type Trace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { isStoreOutage } from '@ticketing/store/document/transient-error.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import type { Context } from '../context.ts';
import { type ExecutionCaller, type ExecutionState, stepAfter } from '../intent/rules/execution.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import { type ActionResult, failedRequest } from './rules/backend-response.ts';
import { informText, outcomeOf, ownResult } from './rules/outcome.ts';
import { type ClaimedExecution, type ExecutionChange, renewMs } from './store.ts';
import { recordExecution, refusalOf, writeMessage } from './tickets.ts';

/** Calls the backend system. */
export type CallBackend = () => Promise<ActionResult>;

const { READY, EXECUTED } = TicketIntentStatus;

/** The time for which the tickets service deduplicates messages. Afterwards an open step is not repeated. */
const repeatableSeconds = 20 * 60 * 60;
/** The time for which the result of a call is kept while the database is unavailable. */
const resultKeptMs = 15_000;
const storePauseMs = 100;

/**
 * Runs a claimed execution to its end, even if its caller disconnects, and returns its outcome. Without `callBackend`,
 * another process has begun it: if that process has called the backend system, nobody knows the result.
 *
 * Errors: execution_taken_over; those of the tickets service, after which the execution can be taken over.
 * Source: docs/decisions/0045-execution-of-intents.md.
 */
export function runExecution(
  context: Context,
  claimed: ClaimedExecution,
  { callBackend, trace = continueTrace(undefined) }: { callBackend?: CallBackend; trace?: Trace } = {},
): Promise<IntentOutcome | null> {
  const { executions, inProgress, log } = context;
  const { claim } = claimed;
  const running = whileRenewing(
    () => executions.renew(claim),
    renewMs,
    async () => {
      try {
        return await carryOut(context, claimed, trace, callBackend);
      } catch (error) {
        // Other processes can continue at once.
        await executions.release(claim).catch((failure: unknown) => log.warn({ err: failure }, 'a lease stays'));
        throw error;
      }
    },
  );
  inProgress.set(claim.id, running);
  const remove = () => {
    if (inProgress.get(claim.id) === running) inProgress.delete(claim.id);
  };
  running.then(remove, remove);
  return running;
}

async function carryOut(
  context: Context,
  { intent: begun, claim }: ClaimedExecution,
  trace: Trace,
  callBackend: CallBackend | undefined,
): Promise<IntentOutcome | null> {
  const { executions, log } = context;
  let intent = begun;
  while (intent.execution) {
    const { execution } = intent;
    const { caller, txId } = execution;
    const call = { trace, signal: new AbortController().signal, ...(caller ? { caller: identityOf(caller) } : {}) };
    const change = await nextChange({ context, call, intent, execution, callBackend });
    const store = () =>
      change.execution === null ? executions.release(claim, change) : executions.advance(claim, change);
    const isStored = await (execution.step === 'call' ? whenAvailable(context, txId, store) : store());
    if (!isStored) return unstoredOutcome(context, intent, execution, change);
    intent = { ...intent, ...change };
    if (change.outcome && change.status !== undefined) {
      const { responseCode, success } = change.outcome;
      log.info({ txId, intentId: intent.id, ticketId: intent.ticketId, responseCode, success }, 'intent executed');
    }
  }
  return intent.outcome;
}

/**
 * Returns the outcome of an execution that cannot store its change any more: after a backend call, whose result only
 * this process knows, and after its intent was deleted.
 *
 * Errors: execution_taken_over.
 */
async function unstoredOutcome(
  { intents }: Context,
  { id, outcome = null }: IntentState,
  { step, txId }: ExecutionState,
  change: ExecutionChange,
): Promise<IntentOutcome> {
  const latest = change.outcome ?? outcome;
  if (latest && (step === 'call' || !(await intents.find(id)))) return latest;
  const detail = `Another process goes on with the execution ${txId}.`;
  throw new DomainError('aborted', 'execution_taken_over', detail, { followsChange: true });
}

/**
 * Stores the result of a call, which only this process knows. Retries during a short outage of the database, because
 * nobody could find out the result later.
 *
 * Errors: store_unavailable and storage_full after a longer outage; each names the transaction, by which the log has
 * the result.
 */
async function whenAvailable(
  { runtime }: Pick<Context, 'runtime'>,
  txId: string,
  store: () => Promise<boolean>,
): Promise<boolean> {
  for (const until = runtime.monotonicMs() + resultKeptMs; ; await setTimeout(storePauseMs)) {
    try {
      return await store();
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      if (runtime.monotonicMs() <= until) continue;
      const detail = `The backend was called, but its result could not be stored: the log has it under ${txId}.`;
      const reason = error instanceof DomainError ? error.reason : 'store_unavailable';
      throw new DomainError('unavailable', reason, detail, { cause: error, retryAfterSeconds: 1 });
    }
  }
}

function identityOf({ identity }: ExecutionCaller): Caller {
  return JSON.parse(identity);
}

/** A step, with everything that it needs. */
interface Step {
  context: Context;
  call: OnBehalfOf;
  intent: IntentState;
  execution: ExecutionState;
  callBackend: CallBackend | undefined;
}

async function nextChange(step: Step): Promise<ExecutionChange> {
  switch (step.execution.step) {
    case 'call':
      return settled(step, await callLogged(step));
    case 'reply':
      return reply(step);
    case 'apply':
      return apply(step);
    case 'inform':
      return inform(step);
    case 'record':
      return record(step);
  }
}

/**
 * Calls the backend system. The log says so before and afterwards, so that the call is found whatever happens
 * meanwhile.
 */
async function callLogged({ context: { log }, intent, execution, callBackend }: Step): Promise<ActionResult> {
  if (!callBackend) return failedRequest('process_ended', true);
  const { id: intentId, aiAgentId, ticketId } = intent;
  const names = { txId: execution.txId, intentId, aiAgentId, ticketId };
  log.info(names, 'a backend system is called');
  const result = await callBackend();
  const { responseCode, kind } = result;
  log.info({ ...names, responseCode, success: kind === 'success' }, 'a backend system was called');
  return result;
}

/** The change after which the result of the action is known. */
function settled({ context, intent, execution }: Step, result: ActionResult): ExecutionChange {
  const { aiAgentId } = intent;
  const outcome = outcomeOf(result, execution, { aiAgentId, now: context.now() });
  const next = result.kind === 'success' ? stepAfter(execution.step, execution.informsCustomer) : 'record';
  const isOver = result.kind !== 'failure';
  return {
    outcome,
    status: isOver ? EXECUTED : READY,
    // Cleared after a failure, too: a person decides whether it is tried again.
    autoExecuteAt: null,
    verified: intent.verified || (isOver && execution.caller?.isHuman === true),
    execution: next === undefined ? null : { ...execution, step: next, closesTicket: false },
  };
}

async function reply(step: Step): Promise<ExecutionChange> {
  const { context, call, intent, execution } = step;
  const { txId, templateId, informsCustomer } = execution;
  if (templateId === null) return settled(step, ownResult('failure', 'unknown_template'));
  try {
    const message = await writeMessage(context, call, intent, { key: txId, execution });
    const change = settled(step, ownResult('success', 'ok'));
    return withMessage(change, message, informsCustomer, String(templateId));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== undefined) return settled(step, ownResult('failure', refusal));
    if (!isTooOld(step)) throw error;
    return settled(step, failedRequest('reply_failed', true));
  }
}

async function apply(step: Step): Promise<ExecutionChange> {
  const { context, call, intent, execution } = step;
  const { txId, closesTicket } = execution;
  const change = settled(step, ownResult('success', 'ok'));
  if (change.outcome) change.outcome.ticketClosed = closesTicket;
  const after = { ...intent, ...change, execution: null };
  try {
    await recordExecution(context, call, after, { id: txId, execution, changesTicket: true, closesTicket });
    return change;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== undefined) return settled(step, ownResult('failure', refusal));
    if (!isTooOld(step)) throw error;
    return settled(step, failedRequest('change_failed', true));
  }
}

/** After a success the customer is informed; only then the ticket is closed. */
async function inform({ context, call, intent, execution, ...step }: Step): Promise<ExecutionChange> {
  const { outcome } = intent;
  if (!outcome) throw new Error('there is no outcome to inform about');
  const next: ExecutionChange = { outcome, execution: { ...execution, step: 'record' } };
  const { txId } = execution;
  try {
    const text = informText(outcome, execution);
    const message = await writeMessage(context, call, intent, { key: `${txId}:inform`, text, execution });
    return withMessage(next, message, true);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined && !isTooOld({ context, execution, ...step })) throw error;
    const informError = refusal ?? 'inform_failed';
    context.log.warn({ txId, reason: informError }, 'the customer was not informed');
    return { ...next, outcome: { ...outcome, internalData: { ...outcome.internalData, informError } } };
  }
}

async function record({ context, call, intent, execution, ...step }: Step): Promise<ExecutionChange> {
  const { txId, closesTicket } = execution;
  const change: ExecutionChange = {
    execution: null,
    ...(intent.outcome && closesTicket ? { outcome: { ...intent.outcome, ticketClosed: true } } : {}),
  };
  const after = { ...intent, ...change, execution: null };
  try {
    const recorded = { id: `${txId}:record`, execution, changesTicket: false, closesTicket };
    await recordExecution(context, call, after, recorded);
    return change;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined && !isTooOld({ context, execution, ...step })) throw error;
    // The tickets service refuses, or has failed for too long: the outcome stays with the intent.
    context.log.warn({ txId, reason: refusal ?? 'too_old' }, 'an execution was not recorded in its ticket');
    return { execution: null };
  }
}

function withMessage(
  { outcome, execution, ...change }: ExecutionChange,
  { isSent, recipient, text }: Awaited<ReturnType<typeof writeMessage>>,
  closesTicket: boolean,
  template?: string,
): ExecutionChange {
  if (!outcome || !execution) throw new Error('a message belongs to an execution that goes on');
  const written = { sent: isSent, recipient, message: text };
  return {
    ...change,
    outcome: { ...outcome, ...written, ...(template === undefined ? {} : { template }) },
    execution: { ...execution, closesTicket },
  };
}

function isTooOld({ context, execution }: Pick<Step, 'context' | 'execution'>): boolean {
  return context.now() - execution.startedAt > repeatableSeconds;
}
