import type {
  DeleteTicketRequest,
  DeleteTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { versionPrecondition } from '@ticketing/service-kit/server/if-match.ts';
import type { Context } from '../application/context.ts';
import { eventHeaderOf } from '../application/event-header.ts';
import { finishErasure } from '../application/finish-erasure.ts';
import { deletedEvent } from '../domain/ticket-event.ts';

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
  const requireVersion = versionPrecondition(call);
  for (;;) {
    const stored = await context.tickets.find(request.ticketId);
    if (!stored) throw notFound('Ticket');
    requireVersion(stored.ticket.version);
    const event = deletedEvent(stored.ticket, eventHeaderOf(context, call), context.now());
    if (await context.tickets.erase(stored.ticket, event, new Date(context.now() * 1000))) break;
    if (stored.reservedBy !== null) await context.bulks.resolveReservation(stored.reservedBy, request.ticketId);
  }
  await finishErasure(context, request.ticketId);
  return { $typeName: 'ticketing.tickets.v1.DeleteTicketResponse', success: true };
}
