import type {
  GetTicketVariablesRequest,
  GetTicketVariablesResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../../context.ts';
import { templateVariables } from './variables.ts';

/**
 * Returns the data that templates for a ticket are rendered with.
 *
 * Errors: ticket_not_found; too_much_at_once, sandbox_busy and sandbox_crashed, for a large ticket.
 * Source: docs/reference/api.md, Variables.
 */
export async function getTicketVariables(
  context: Context,
  call: Call,
  { ticketId }: GetTicketVariablesRequest,
): Promise<GetTicketVariablesResponse> {
  const [stored, tree] = await Promise.all([context.tickets.find(ticketId), context.tags.tree()]);
  if (!stored) throw notFound('Ticket');
  const variables = await templateVariables(context, call, stored, { tree });
  return { $typeName: 'ticketing.tickets.v1.GetTicketVariablesResponse', variables };
}
