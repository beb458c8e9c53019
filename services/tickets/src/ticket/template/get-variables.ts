import type {
  GetTemplateVariablesRequest,
  GetTemplateVariablesResponse,
  GetTicketVariablesRequest,
  GetTicketVariablesResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { TagStore } from '../../tag/store.ts';
import type { TicketStore } from '../store/store.ts';
import { contractVariables, templateVariables, type VariableDeps, variablesJson } from './variables.ts';

/** The dependencies of the handlers of variables. */
export interface GetVariablesDeps extends VariableDeps {
  tickets: Pick<TicketStore, 'find'>;
  tags: Pick<TagStore, 'tree'>;
}

/**
 * Returns the data that templates for a ticket are rendered with.
 *
 * Errors: ticket_not_found; too_much_at_once, sandbox_busy and sandbox_crashed, for a large ticket.
 * Source: docs/reference/api.md, Variables.
 */
export async function getTicketVariables(
  deps: GetVariablesDeps,
  call: Call,
  { ticketId }: GetTicketVariablesRequest,
): Promise<GetTicketVariablesResponse> {
  const variables = await variablesOfTicket(deps, call, ticketId, undefined);
  return { $typeName: 'ticketing.tickets.v1.GetTicketVariablesResponse', variables };
}

/**
 * Returns the data that templates are rendered with, for a ticket or for a contract, as JSON.
 *
 * Errors: ticket_not_found; too_much_at_once, sandbox_busy and sandbox_crashed, for a large ticket.
 * Source: docs/reference/api.md, Variables.
 */
export async function getTemplateVariables(
  deps: GetVariablesDeps,
  call: Call,
  { ticketId, contractId }: GetTemplateVariablesRequest,
): Promise<GetTemplateVariablesResponse> {
  const variables =
    ticketId === undefined
      ? await contractVariables(deps, call, contractId)
      : await variablesOfTicket(deps, call, ticketId, contractId);
  return {
    $typeName: 'ticketing.tickets.v1.GetTemplateVariablesResponse',
    variables: await variablesJson(deps.json, call, variables),
  };
}

async function variablesOfTicket(deps: GetVariablesDeps, call: Call, ticketId: number, contractId: string | undefined) {
  const [stored, tree] = await Promise.all([deps.tickets.find(ticketId), deps.tags.tree()]);
  if (!stored) throw notFound('Ticket');
  return templateVariables(deps, call, stored, { tree, contractId });
}
