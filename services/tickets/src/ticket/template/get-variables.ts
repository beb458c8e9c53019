import type {
  GetTemplateVariablesRequest,
  GetTemplateVariablesResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../../context.ts';
import { contractVariables, templateVariables, variablesJson } from './variables.ts';

/**
 * Returns the data that templates are rendered with, for a ticket or for a contract, as JSON.
 *
 * Errors: ticket_not_found; too_much_at_once, sandbox_busy and sandbox_crashed, for a large ticket.
 * Source: docs/reference/api.md, Variables.
 */
export async function getTemplateVariables(
  context: Context,
  call: Call,
  { ticketId, contractId }: GetTemplateVariablesRequest,
): Promise<GetTemplateVariablesResponse> {
  const variables =
    ticketId === undefined
      ? await contractVariables(context, call, contractId)
      : await variablesOfTicket(context, call, ticketId, contractId);
  return {
    $typeName: 'ticketing.tickets.v1.GetTemplateVariablesResponse',
    variables: await variablesJson(context, call, variables),
  };
}

async function variablesOfTicket(context: Context, call: Call, ticketId: number, contractId: string | undefined) {
  const [stored, tree] = await Promise.all([context.tickets.find(ticketId), context.tags.tree()]);
  if (!stored) throw notFound('Ticket');
  return templateVariables(context, call, stored, { tree, contractId });
}
