import { setTimeout } from 'node:timers/promises';
import type { IntentOutcome } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { continueTrace, type Trace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { isStoreOutage } from '@ticketing/store/document/transient-error.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import type { ExecutionState } from '../intent/rules/execution.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import type { IntentStore } from '../intent/store.ts';
import type { CallBackend } from './backend.ts';
import { makeStep, type StepContext } from './steps.ts';
import { type ClaimedExecution, type ExecutionChange, type ExecutionStore, renewMs } from './store.ts';

/** The dependencies of a run. */
export interface RunContext extends StepContext {
  executions: Executions;
  intents: Pick<IntentStore, 'find'>;
}

/** The executions in the store, and those that this process carries out, by intent. */
export interface Executions extends ExecutionStore {
  /** They go on when their callers have gone, and end before the process stops. */
  inProgress: Map<number, Promise<unknown>>;
}

/** The trace of an execution, and the call of its backend system if this process has begun it. */
export interface RunOptions {
  trace?: Trace;
  callBackend?: CallBackend | undefined;
}

/** The time for which the result of a call is kept while the database is unavailable. */
const resultKeptMs = 15_000;
const storePauseMs = 100;

/**
 * Finishes an execution whose process has died or given up, if there is one. If that process has called the backend
 * system, nobody knows the result.
 *
 * Errors: those of `runExecution`.
 */
export async function finishExecution(context: RunContext, id: number): Promise<void> {
  const claimed = await context.executions.takeOver(id);
  if (claimed) await runExecution(context, claimed);
}

/** Finishes the executions whose process has died or given up. */
export async function finishExecutions(context: RunContext): Promise<void> {
  for await (const id of context.executions.abandoned()) {
    await finishExecution(context, id).catch((error: unknown) => {
      context.log.warn({ err: error, intentId: id }, 'an execution was not finished, and will be tried again');
    });
  }
}

/**
 * Runs a claimed execution to its end, even if its caller disconnects, and returns its outcome.
 *
 * Errors: execution_taken_over; those of the tickets service, after which the execution can be taken over.
 * Source: docs/decisions/0045-execution-of-intents.md.
 */
export function runExecution(
  context: RunContext,
  claimed: ClaimedExecution,
  options: RunOptions = {},
): Promise<IntentOutcome | null> {
  const { executions } = context;
  const { claim } = claimed;
  const running = whileRenewing(
    () => executions.renew(claim),
    renewMs,
    () => runOrRelease(context, claimed, options),
  );
  executions.inProgress.set(claim.id, running);
  const remove = () => {
    if (executions.inProgress.get(claim.id) === running) executions.inProgress.delete(claim.id);
  };
  running.then(remove, remove);
  return running;
}

async function runOrRelease(
  context: RunContext,
  claimed: ClaimedExecution,
  options: RunOptions,
): Promise<IntentOutcome | null> {
  try {
    return await runSteps(context, claimed, options);
  } catch (error) {
    // Other processes can continue at once.
    await context.executions.release(claimed.claim).catch((failure: unknown) => {
      context.log.warn({ err: failure }, 'a lease stays');
    });
    throw error;
  }
}

/** Makes one step after the other, and stores each before the next begins. */
async function runSteps(
  context: RunContext,
  { intent: begun, claim }: ClaimedExecution,
  { trace = continueTrace(undefined), callBackend }: RunOptions,
): Promise<IntentOutcome | null> {
  const { executions, log } = context;
  let intent = begun;
  while (intent.execution) {
    const { execution } = intent;
    const change = await makeStep(context, { call: callOnBehalf(execution, trace), intent, execution, callBackend });
    const store = () =>
      change.execution === null ? executions.release(claim, change) : executions.advance(claim, change);
    const isStored = await (execution.step === 'call' ? storeResult(context, execution, store) : store());
    if (!isStored) return unstoredOutcome(context, intent, execution, change);
    intent = { ...intent, ...change };
    if (change.outcome && change.status !== undefined) {
      const { responseCode, success } = change.outcome;
      const names = { txId: execution.txId, intentId: intent.id, ticketId: intent.ticketId };
      log.info({ ...names, responseCode, success }, 'intent executed');
    }
  }
  return intent.outcome;
}

function callOnBehalf({ caller }: ExecutionState, trace: Trace): OnBehalfOf {
  const signal = new AbortController().signal;
  return { trace, signal, ...(caller ? { caller: JSON.parse(caller.identity) } : {}) };
}

/**
 * Returns the outcome of an execution that cannot store its change any more: after a backend call, whose result only
 * this process knows, and after its intent was deleted.
 *
 * Errors: execution_taken_over.
 */
async function unstoredOutcome(
  { intents }: RunContext,
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
 * Stores the result of a backend call, which only this process knows. Retries during a short outage of the database,
 * because nobody could find out the result later.
 *
 * Errors: store_unavailable and storage_full after a longer outage; each names the transaction, by which the log has
 * the result.
 */
async function storeResult(
  { runtime }: { runtime: Pick<Runtime, 'monotonicMs'> },
  { txId }: ExecutionState,
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
