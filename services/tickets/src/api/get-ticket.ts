import type {
  GetTicketRequest,
  GetTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/rest/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call.ts';
import type { Context } from './context.ts';
import { fullTicket } from './ticket-message.ts';

/** Reads a ticket in full form. Errors: ticket_not_found. Source: specification, GET /ticket/{ticketId}. */
export async function getTicket(context: Context, call: Call, request: GetTicketRequest): Promise<GetTicketResponse> {
  const stored = await context.tickets.find(request.ticketId);
  if (!stored) throw notFound('Ticket');
  const form = { caller: call.caller, withRawData: request.includeRawData ?? false };
  return {
    $typeName: 'ticketing.tickets.v1.GetTicketResponse',
    ticket: await fullTicket(context, stored, form),
    ...(request.includeSessions === false
      ? {}
      : { sessions: { $typeName: 'ticketing.tickets.v1.AssistantSessions', items: [] } }),
  };
}
