import type {
  ReplaceAutoExecutionRequest,
  ReplaceAutoExecutionResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from '../ticket/event-header.ts';
import { decideFields } from '../ticket/rules/decision.ts';
import { writeTicket } from '../ticket/write.ts';

/**
 * Replaces the time at which the system executes an intent of a ticket, if the ticket still has that time.
 *
 * Errors: ticket_not_found, concurrent_change. Source: docs/reference/api.md, Automatic execution.
 */
export async function replaceAutoExecution(
  context: Context,
  call: Call,
  { ticketId, replaced, autoExecuteAt }: ReplaceAutoExecutionRequest,
): Promise<ReplaceAutoExecutionResponse> {
  const before = secondsOf(replaced);
  await writeTicket(context, ticketId, ({ ticket }) => {
    if (ticket.autoExecuteAt !== before) return {};
    const input = { autoExecuteAt: secondsOf(autoExecuteAt) };
    const { change } = decideFields(ticket, input, context.now(), eventHeaderOf(context, call));
    return change ? { change: { ...change, event: { ...change.event, cause: 'schedule' } } } : {};
  });
  return { $typeName: 'ticketing.tickets.v1.ReplaceAutoExecutionResponse' };
}

function secondsOf(time: { seconds: bigint } | undefined): number | null {
  return time ? Number(time.seconds) : null;
}
