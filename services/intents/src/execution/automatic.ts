import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Context } from '../context.ts';
import { type IntentState, nextAutoExecution } from '../intent/rules/intent.ts';
import { beginExecution } from './begin.ts';
import { planExecution } from './plan.ts';
import { readSnapshot } from './tickets.ts';

/**
 * Executes the intents whose time has come, unless their ticket is closed, is spam, or has no time for it any more: the
 * tickets service removes it with the change by a person, or the message, that ends the wait.
 *
 * Source: docs/decisions/0045-execution-of-intents.md.
 */
export async function executeAutomatically(context: Context): Promise<void> {
  for await (const id of context.executions.due(context.now())) {
    await executeDue(context, id).catch((error: unknown) => {
      context.log.warn({ err: error, intentId: id }, 'an intent was not executed automatically');
    });
  }
}

async function executeDue(context: Context, id: number): Promise<void> {
  const intent = await context.intents.find(id);
  if (!intent || intent.autoExecuteAt === null) return;
  const call = { trace: continueTrace(undefined), signal: new AbortController().signal };
  const executor = { ...call, caller: null };
  let ticket: Ticket | undefined;
  try {
    // Checked before the ticket is read, which then includes any analysis applied meanwhile.
    const isPending = await context.analyses.isPending(intent.ticketId);
    const snapshot = await readSnapshot(context, call, intent.ticketId);
    ticket = snapshot.ticket;
    // The analysis that has proposed the intent is not applied yet, or a further one is pending.
    if (ticket.autoExecuteAt === undefined && isPending) return;
    if (!(await mayExecute(context, intent, snapshot))) {
      await cancel(context, call, intent, ticket);
      return;
    }
    const plan = await planExecution(context, executor, { id, informCustomer: false }, intent);
    await beginExecution(context, executor, plan);
  } catch (error) {
    // These refusals are permanent.
    if (error instanceof DomainError && ['failed_precondition', 'invalid_argument', 'not_found'].includes(error.code)) {
      await cancel(context, call, intent, ticket);
    }
    throw error;
  }
}

async function mayExecute(
  { agents }: Context,
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
  context: Context,
  call: OnBehalfOf,
  intent: IntentState,
  ticket: Ticket | undefined,
): Promise<void> {
  const { id, ticketId } = intent;
  if (ticket?.autoExecuteAt) {
    const others = (await context.intents.ofTicket(ticketId)).filter((other) => other.id !== id);
    const next = nextAutoExecution(others);
    const replaced = { ticketId, replaced: ticket.autoExecuteAt };
    await context
      .analysis(call)
      .replaceAutoExecution(next === null ? replaced : { ...replaced, autoExecuteAt: toTimestamp(next) });
  }
  await context.executions.cancelAutomatic(intent);
}
