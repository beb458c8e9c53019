import { setTimeout } from 'node:timers/promises';
import { type IntentOutcome, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import { runExecution } from './run.ts';

/** The longest wait of a call for the outcome of another one. */
const waitMs = 5_000;
const pollMs = 200;
const ownPauseMs = 1000;
/** One of this many polls checks whether the process of the other call has died. */
const pollsPerTakeOver = 5;

/** The outcome of an intent that was executed; undefined if it can be executed. Errors: intent_invalidated. */
export function knownOutcome({ status, outcome, execution }: IntentState): IntentOutcome | undefined {
  if (status === TicketIntentStatus.INVALIDATED) {
    throw new DomainError('failed_precondition', 'intent_invalidated', 'The intent no longer applies to the ticket.');
  }
  return status === TicketIntentStatus.EXECUTED && execution === null ? (outcome ?? undefined) : undefined;
}

/**
 * Waits for the outcome of an execution that another call has begun, and finishes it if its process has died. Undefined
 * if the intent can be executed again, and has no outcome of that execution.
 *
 * Errors: intent_running; intent_not_found, if the intent is deleted meanwhile; those of `runExecution`.
 */
export async function awaitExecution(
  context: Context,
  { id, txId }: { id: number; txId: string },
): Promise<IntentOutcome | undefined> {
  const until = context.runtime.monotonicMs() + waitMs;
  for (let poll = 0; ; poll += 1) {
    const intent = await context.intents.find(id);
    if (!intent) {
      const title = 'Intent not found';
      const detail = `${title}: it was deleted during its execution ${txId}, which the log names.`;
      throw new DomainError('not_found', 'intent_not_found', detail, { title });
    }
    const outcome = knownOutcome(intent);
    if (outcome) return outcome;
    if (!intent.execution) return intent.outcome?.txId === txId ? intent.outcome : undefined;
    if (poll % pollsPerTakeOver === 0) await finishExecution(context, id);
    if (context.runtime.monotonicMs() > until) throw running();
    await pause(context.inProgress.get(id));
  }
}

/** Waits for an execution of this process, or for a moment. */
async function pause(own: Promise<unknown> | undefined): Promise<void> {
  if (!own) await setTimeout(pollMs);
  else await Promise.race([own.catch(() => undefined), setTimeout(ownPauseMs)]);
}

/** Finishes an execution whose process has died or given up, if there is one. Errors: those of the tickets service. */
export async function finishExecution(context: Context, id: number): Promise<void> {
  const claimed = await context.executions.takeOver(id);
  if (claimed) await runExecution(context, claimed);
}

/** The error while another call executes an intent. */
export function running(): DomainError {
  const detail = 'Another call executes this intent.';
  return new DomainError('failed_precondition', 'intent_running', detail, {
    retryAfterSeconds: 1,
    followsChange: true,
  });
}
