import { eraseFiles } from '@ticketing/files/sweep-files.ts';
import type { Context } from '../context.ts';
import { deletedEvent, type EventHeader } from '../ticket/rules/event.ts';
import { ticketSubject } from '../ticket/store/stored-ticket.ts';

/** The version check and the event header of a deletion. */
interface Erasure {
  /** Throws if a ticket in this version may not be deleted. */
  requireVersion(version: number): void;
  /** Makes the header of the event. */
  newHeader(): EventHeader;
}

/**
 * Deletes a ticket, and all that this service stores of it. Only its id, its version and its event stay. Returns false if there
 * is no such ticket.
 *
 * Errors: those of `requireVersion`.
 */
export async function eraseTicket(
  context: Context,
  id: number,
  { requireVersion, newHeader }: Erasure,
): Promise<boolean> {
  for (;;) {
    const stored = await context.tickets.find(id);
    if (!stored) return false;
    requireVersion(stored.ticket.version);
    const event = deletedEvent(stored.ticket, newHeader(), context.now());
    if (await context.tickets.erase(stored.ticket, event, new Date(context.now() * 1000))) break;
    if (stored.reservedBy !== null) await context.bulks.resolveReservation(stored.reservedBy, id);
  }
  await finishErasure(context, id);
  return true;
}

/**
 * Erases the data of a deleted ticket that this service stores outside of the ticket's document, and in its unsent
 * events. It may run several times.
 */
export async function finishErasure(context: Context, ticketId: number): Promise<void> {
  await context.erasures.wipeUnsentValues(ticketId);
  await context.externalIds.free(ticketId);
  await context.externalMessageIds.free(ticketId);
  await context.conversations.removeOf(ticketId);
  await context.analysisRequests.removeOf(ticketId);
  await context.erpResponses.eraseOf(ticketId);
  await context.idempotency.eraseAbout(ticketSubject(ticketId));
  await eraseFiles(context, ticketId);
  await context.erasures.confirm(ticketId, 'tickets');
}
