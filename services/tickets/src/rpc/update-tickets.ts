import type {
  TicketChange,
  UpdateTicketsRequest,
  UpdateTicketsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { type BulkElement, readBulkElement } from '../application/read-patch.ts';
import { findSubchannelViolations } from '../application/require-subchannels.ts';
import { isManual } from '../domain/spam.ts';
import { tagViolations } from '../domain/ticket-patch.ts';

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
  context: Context,
  call: Call,
  request: UpdateTicketsRequest,
): Promise<UpdateTicketsResponse> {
  const elements = request.tickets.map((change, index) => ({
    ...readBulkElement(change),
    change,
    pointer: `#/tickets/${index}`,
  }));
  await validate(context, elements);
  const analysisRequests = elements.flatMap(({ change, refreshMode: mode }) =>
    mode === undefined ? [] : [{ ticketId: change.id ?? 0, mode }],
  );
  if (analysisRequests.length < request.tickets.length)
    await context.bulks.run(call.idempotency?.id ?? context.runtime.randomUUID(), request, call);
  await context.analysisRequests.add(analysisRequests, new Date(context.now() * 1000));
  return { $typeName: 'ticketing.tickets.v1.UpdateTicketsResponse', success: true };
}

/** An element of the request and its JSON Pointer. */
interface PlacedElement extends BulkElement {
  change: TicketChange;
  pointer: string;
}

async function validate(context: Context, elements: readonly PlacedElement[]): Promise<void> {
  const [tree, versions] = await Promise.all([
    context.tags.tree(),
    context.tickets.versions(elements.map(({ change: { id = 0 } }) => id)),
  ]);
  const seen = new Set<number>();
  const violations = elements.flatMap(({ change: { id = 0, spamStatus }, patch, pointer }): Violation[] => {
    const found = tagViolations(patch, tree, pointer);
    if (seen.has(id)) {
      found.push({ pointer: `${pointer}/id`, code: 'duplicate_ticket', detail: `ticket ${id} comes twice` });
    }
    seen.add(id);
    if (!versions.has(id)) {
      found.push({ pointer: `${pointer}/id`, code: 'unknown_ticket', detail: `ticket ${id} does not exist` });
    }
    if (spamStatus !== undefined && !isManual(spamStatus)) {
      const detail = 'must be manual_spam or manual_clean';
      found.push({ pointer: `${pointer}/spamStatus`, code: 'not_allowed', detail });
    }
    return found;
  });
  const inputs = elements.map(({ patch, pointer }) => ({ input: patch.input, pointer }));
  violations.push(...(await findSubchannelViolations(context, inputs)));
  if (violations.length === 0) return;
  if (violations.every(({ code }) => code === 'unknown_ticket')) {
    throw new DomainError('not_found', 'ticket_not_found', 'Ticket not found', { violations });
  }
  throw invalidInput(violations);
}
