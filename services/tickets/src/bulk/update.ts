import type {
  UpdateTicketsRequest,
  UpdateTicketsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { type CheckDeps, requireValidChanges } from '../ticket/checks.ts';
import { readBulkElement } from '../ticket/patch.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { Bulks } from './run.ts';

interface UpdateTicketsDeps extends CheckDeps {
  tickets: Pick<TicketStore, 'versions'>;
  bulks: Bulks;
  /** Requests new analyses of tickets. */
  requestAnalyses(requests: readonly { ticketId: number; mode: string }[]): Promise<void>;
  runtime: Runtime;
}

/**
 * Changes several tickets, all of them or none: everything is checked first, then the bulk is recorded, then applied;
 * if this process dies, another applies it. An element with a refresh flag changes nothing, but requests a new
 * analysis.
 *
 * Errors: ticket_not_found, if nothing else is wrong; duplicate_ticket, unknown_ticket, unknown_tag, unknown_subchannel, subchannel_disabled, conflicting_tags,
 * not_allowed, each with a pointer; stale_version, if an element names a version that its ticket no longer has.
 * Source: docs/reference/api.md, Bulk changes.
 */
export async function updateTickets(
  deps: UpdateTicketsDeps,
  call: Call,
  request: UpdateTicketsRequest,
): Promise<UpdateTicketsResponse> {
  const elements = request.tickets.map((change, index) => ({
    ...readBulkElement(change),
    change,
    pointer: `#/tickets/${index}`,
  }));
  await requireValidChanges(deps, elements);
  const analysisRequests = elements.flatMap(({ change, refreshMode: mode }) =>
    mode === undefined ? [] : [{ ticketId: change.id ?? 0, mode }],
  );
  if (analysisRequests.length < request.tickets.length)
    await deps.bulks.run(call.idempotency?.id ?? deps.runtime.randomUUID(), request, call);
  await deps.requestAnalyses(analysisRequests);
  return { $typeName: 'ticketing.tickets.v1.UpdateTicketsResponse', success: true };
}
