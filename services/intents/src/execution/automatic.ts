import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import { beginExecution } from './execute.ts';
import type { ExecutionContext } from './open.ts';
import { type Actor, planExecution, requireReachable } from './plan.ts';

/**
 * Executes the intents whose time has come, unless their ticket is closed, is spam, or has no time for it any more: the
 * tickets service removes it with the change by a person, or the message, that ends the wait. `isAnalysisPending` says
 * whether an analysis of a ticket is queued or running.
 *
 * Source: docs/decisions/0045-execution-of-intents.md.
 */
export async function executeAutomatically(
  context: ExecutionContext,
  isAnalysisPending: IsAnalysisPending,
): Promise<void> {
  for await (const id of context.executions.due(secondsNow(context.runtime))) {
    await executeDue(context, isAnalysisPending, id).catch((error: unknown) => {
      context.log.warn({ err: error, intentId: id }, 'an intent was not executed automatically');
    });
  }
}

type IsAnalysisPending = (ticketId: number) => Promise<boolean>;

async function executeDue(context: ExecutionContext, isAnalysisPending: IsAnalysisPending, id: number): Promise<void> {
  const intent = await context.intents.find(id);
  if (!intent || intent.autoExecuteAt === null) return;
  const call = { trace: continueTrace(undefined), signal: new AbortController().signal };
  const system: Actor = { ...call, caller: null };
  let ticket: Ticket | undefined;
  try {
    // Checked before the ticket is read, which then includes any analysis applied meanwhile.
    const isPending = await isAnalysisPending(intent.ticketId);
    const snapshot = await context.tickets.read(call, intent.ticketId);
    ticket = snapshot.ticket;
    // The analysis that has proposed the intent is not applied yet, or a further one is pending.
    if (ticket.autoExecuteAt === undefined && isPending) return;
    if (!(await mayExecute(context, intent, snapshot))) {
      await cancel(context, call, intent, ticket);
      return;
    }
    const plan = await planExecution(context, system, { id, informCustomer: false }, intent);
    requireReachable(plan);
    await beginExecution(context, system, plan);
  } catch (error) {
    // These refusals are permanent.
    if (error instanceof DomainError && ['failed_precondition', 'invalid_argument', 'not_found'].includes(error.code)) {
      await cancel(context, call, intent, ticket);
    }
    throw error;
  }
}

async function mayExecute(
  { agents }: ExecutionContext,
  { aiAgentId }: IntentState,
  { ticket, isSpam }: { ticket: Ticket; isSpam: boolean },
): Promise<boolean> {
  if (ticket.autoExecuteAt === undefined || ticket.status === TicketStatus.CLOSED || isSpam) return false;
  return (await agents.find(aiAgentId))?.enabled === true;
}

/**
 * Ends the wait for the automatic execution of an intent. Changes its ticket first, so that a failure in between is
 * repeated.
 */
async function cancel(
  { executions, tickets }: ExecutionContext,
  call: OnBehalfOf,
  intent: IntentState,
  ticket: Ticket | undefined,
): Promise<void> {
  if (ticket) await tickets.cancelAutoExecution(call, ticket, intent.id);
  await executions.cancelAutomatic(intent);
}
