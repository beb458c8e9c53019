import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { EventHeader } from '../rules/event-header.ts';
import { deletedEvent } from '../ticket/rules/event.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { ErasureStore } from './store.ts';

/** The dependencies of the erasure of tickets. */
export interface ErasureDeps {
  tickets: Pick<TicketStore, 'find' | 'erase'>;
  erasures: ErasureStore;
  /** Erases the data of a deleted ticket outside of its document: one step for each store. A step may run several times. */
  eraseElsewhere: readonly ((ticketId: number) => Promise<void>)[];
  /** Called when a bulk has reserved the ticket: ends the reservation, or waits a moment. */
  resolveReservation(bulkId: string, ticketId: number): Promise<void>;
  runtime: Runtime;
}

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
  deps: ErasureDeps,
  id: number,
  { requireVersion, newHeader }: Erasure,
): Promise<boolean> {
  for (;;) {
    const stored = await deps.tickets.find(id);
    if (!stored) return false;
    requireVersion(stored.ticket.version);
    const now = secondsNow(deps.runtime);
    const event = deletedEvent(stored.ticket, newHeader(), now);
    if (await deps.tickets.erase(stored.ticket, event, new Date(now * 1000))) break;
    if (stored.reservedBy !== null) await deps.resolveReservation(stored.reservedBy, id);
  }
  await finishErasure(deps, id);
  return true;
}

/** Erases the data of a deleted ticket outside of its document, and the values in its unsent events. */
async function finishErasure({ erasures, eraseElsewhere }: ErasureDeps, ticketId: number): Promise<void> {
  await erasures.wipeUnsentValues(ticketId);
  for (const erase of eraseElsewhere) await erase(ticketId);
  await erasures.confirm(ticketId, 'tickets');
}

const batchSize = 100;

/** Finishes the erasures of deleted tickets that were interrupted. */
export async function finishErasures(deps: ErasureDeps): Promise<void> {
  for (;;) {
    const ticketIds = await deps.erasures.pendingIds('tickets', batchSize);
    for (const ticketId of ticketIds) await finishErasure(deps, ticketId);
    if (ticketIds.length < batchSize) return;
  }
}
