import type {
  DeleteTicketRequest,
  DeleteTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { versionPrecondition } from '@ticketing/service-kit/server/if-match.ts';
import { type Context, ticketSubject } from '../application/context.ts';
import { deletedEvent, originOf } from '../application/ticket-event.ts';

/**
 * Deletes a ticket and all that this service keeps of it. Its id, its versions and its events stay, so that no late
 * event brings it back.
 *
 * Errors: ticket_not_found; stale_version, if `If-Match` names another version.
 * Source: specification, DELETE /ticket/{ticketId}; decisions.md section 5; architecture.md section 4.
 */
export async function deleteTicket(
  context: Context,
  call: Call,
  request: DeleteTicketRequest,
): Promise<DeleteTicketResponse> {
  const demandVersion = versionPrecondition(call);
  for (;;) {
    const stored = await context.tickets.find(request.ticketId);
    if (!stored) throw notFound('Ticket');
    demandVersion(stored.ticket.version);
    const event = deletedEvent(stored.ticket, originOf(call), context.now());
    if (await context.tickets.erase(stored.ticket, event, new Date(context.now() * 1000))) break;
    if (stored.reservedBy !== null) await context.bulks.settle(stored.reservedBy, request.ticketId);
  }
  await finishErasing(context, request.ticketId);
  return { $typeName: 'ticketing.tickets.v1.DeleteTicketResponse', success: true };
}

/** Erases what this service keeps of a deleted ticket outside of its document. May run again. */
export async function finishErasing(context: Context, ticketId: number): Promise<void> {
  await context.tickets.freeExternalIds(ticketId);
  await context.analysisRequests.forget(ticketId);
  await context.idempotency.eraseAbout(ticketSubject(ticketId));
  await context.tickets.confirmErasure(ticketId, 'tickets');
}
