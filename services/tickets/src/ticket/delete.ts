import type {
  DeleteTicketRequest,
  DeleteTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { versionPrecondition } from '@ticketing/service-kit/call/if-match.ts';
import type { Context } from '../context.ts';
import { eraseTicket } from '../erasure/erase.ts';
import { eventHeaderOf } from '../event-header.ts';

/**
 * Deletes a ticket and all that this service stores of it. Its id and its version stay, so that another
 * service does not restore it when an older event arrives late.
 *
 * Errors: ticket_not_found; stale_version, if `If-Match` names another version.
 * Source: docs/reference/api.md, Deletion; docs/reference/architecture.md, Delete.
 */
export async function deleteTicket(
  context: Context,
  call: Call,
  request: DeleteTicketRequest,
): Promise<DeleteTicketResponse> {
  const isErased = await eraseTicket(context, request.ticketId, {
    requireVersion: versionPrecondition(call),
    newHeader: () => eventHeaderOf(context, call),
  });
  if (!isErased) throw notFound('Ticket');
  return { $typeName: 'ticketing.tickets.v1.DeleteTicketResponse', success: true };
}
