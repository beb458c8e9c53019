import type {
  ConfirmErasureRequest,
  ConfirmErasureResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type {
  DeleteTicketRequest,
  DeleteTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { versionPrecondition } from '@ticketing/service-kit/call/if-match.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { sweep } from '@ticketing/store/document/sweep.ts';
import { Gauge, type Registry } from 'prom-client';
import { eventHeaderFor } from '../event-header.ts';
import { deletedEvent } from '../ticket/rules/event.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { ErasureStore, PendingErasures } from './store.ts';

export interface ErasureDeps {
  tickets: Pick<TicketStore, 'find' | 'erase'>;
  erasures: ErasureStore;
  /** Erases the data of a deleted ticket outside of its document: one step for each store. A step may run several times. */
  eraseElsewhere: readonly ((ticketId: number) => Promise<void>)[];
  /** Called when a bulk has reserved the ticket: ends the reservation, or waits a moment. */
  resolveReservation(bulkId: string, ticketId: number): Promise<void>;
  runtime: Runtime;
}

/**
 * Deletes a ticket and all that this service stores of it. Its id, its version and its event stay, so that another
 * service does not restore it when an older event arrives late.
 *
 * The steps, and what is left if the process dies after one of them:
 * 1. The document of the ticket is emptied, with the event: the ticket is deleted for all readers.
 * 2. Its data elsewhere is erased: `finishErasures` does what is left.
 *
 * Errors: ticket_not_found; stale_version, if `If-Match` names another version; concurrent_change.
 * Source: docs/reference/api.md, Deletion; docs/reference/architecture.md, Delete.
 */
export async function deleteTicket(
  deps: ErasureDeps,
  call: Call,
  { ticketId }: DeleteTicketRequest,
): Promise<DeleteTicketResponse> {
  const requireVersion = versionPrecondition(call);
  await retryOnConflict(deps.runtime, 'The ticket is being changed too often.', async () => {
    const stored = await deps.tickets.find(ticketId);
    if (!stored) throw notFound('Ticket');
    requireVersion(stored.ticket.version);
    const now = secondsNow(deps.runtime);
    const event = deletedEvent(stored.ticket, eventHeaderFor(deps, call), now);
    if (await deps.tickets.erase(stored.ticket, event, new Date(now * 1000))) return;
    if (stored.reservedBy !== null) await deps.resolveReservation(stored.reservedBy, ticketId);
    return conflict;
  });
  await finishErasure(deps, ticketId);
  return { $typeName: 'ticketing.tickets.v1.DeleteTicketResponse', success: true };
}

/** Erases the data of a deleted ticket outside of its document, and the values in its unsent events. */
async function finishErasure({ erasures, eraseElsewhere }: ErasureDeps, ticketId: number): Promise<void> {
  await erasures.wipeUnsentValues(ticketId);
  for (const erase of eraseElsewhere) await erase(ticketId);
  await erasures.confirm(ticketId, 'tickets');
}

/** Finishes the erasures of deleted tickets that were interrupted. */
export async function finishErasures(deps: ErasureDeps): Promise<void> {
  await sweep({
    batch: 100,
    find: (limit) => deps.erasures.pendingIds('tickets', limit),
    async settle(ticketIds) {
      for (const ticketId of ticketIds) await finishErasure(deps, ticketId);
    },
  });
}

/**
 * Records that the calling service has erased its data of a deleted ticket. When all services have
 * confirmed, only the id, the version and the time of the deletion of the ticket remain.
 *
 * Errors: ticket_not_deleted. Source: docs/reference/architecture.md, Delete.
 */
export async function confirmErasure(
  { erasures }: { erasures: Pick<ErasureStore, 'confirm'> },
  call: Call,
  { ticketId }: ConfirmErasureRequest,
): Promise<ConfirmErasureResponse> {
  if (!(await erasures.confirm(ticketId, call.caller.service ?? ''))) {
    throw new DomainError('failed_precondition', 'ticket_not_deleted', 'The ticket was not deleted.');
  }
  return { $typeName: 'ticketing.tickets.v1.ConfirmErasureResponse' };
}

/** Registers metrics of the deleted tickets whose data a service has not erased yet. Each scrape reads the store. */
export function measureErasures(
  store: Pick<ErasureStore, 'pendingByService'>,
  registry: Registry,
  { now }: Pick<Runtime, 'now'>,
): void {
  const gauge = (name: string, help: string, readValue: (pending: PendingErasures) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['owner'],
      registers: [registry],
      async collect() {
        const found = await readMeasured(() => store.pendingByService());
        this.reset();
        for (const pending of found ?? []) this.set({ owner: pending.service }, readValue(pending));
      },
    });
  gauge('erasures_pending', 'Deleted tickets of which a service has not confirmed the erasure.', ({ count }) => count);
  gauge('erasures_oldest_age_seconds', 'How long the oldest of them has been deleted.', ({ oldestAt }) =>
    Math.max(0, (now() - oldestAt.getTime()) / 1000),
  );
}
