import {
  type UpdateTicketRequest,
  UpdateTicketRequestSchema,
  type UpdateTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { traceparentOf } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { versionPrecondition } from '@ticketing/service-kit/server/if-match.ts';
import { changeTicket } from '../application/change-ticket.ts';
import { type Context, ticketSubject } from '../application/context.ts';
import { fullTicket } from '../application/ticket-message.ts';
import { decidePatch, patchReader, tagViolations } from '../application/ticket-update.ts';
import type { StoredTicket } from '../store/ticket-store.ts';

const readPatch = patchReader(UpdateTicketRequestSchema);

/**
 * Changes a ticket.
 *
 * Errors: ticket_not_found, unknown_tag; stale_version, if `If-Match` names another version.
 * Source: specification, PATCH /ticket/{ticketId}; decisions.md section 5.
 */
export async function updateTicket(
  context: Context,
  call: Call,
  request: UpdateTicketRequest,
): Promise<UpdateTicketResponse> {
  const { caller } = call;
  const patch = readPatch(request);
  const tree = await context.tags.tree();
  const violations = tagViolations(patch, tree, '#');
  if (violations.length > 0) throw invalidInput(violations);
  const demandVersion = versionPrecondition(call);
  const patchContext = {
    caller,
    traceparent: traceparentOf(call.trace),
    now: context.now(),
    includeInWorklog: request.includeInWorklog ?? true,
  };
  call.idempotency?.addSubject(ticketSubject(request.ticketId));
  const decide = (before: StoredTicket) => {
    demandVersion(before.ticket.version);
    return decidePatch(before, patch, patchContext);
  };
  const stored = await changeTicket(context, request.ticketId, decide, { requestId: call.idempotency?.id });
  return {
    $typeName: 'ticketing.tickets.v1.UpdateTicketResponse',
    success: true,
    ticket: await fullTicket(context, stored, { caller, withRawData: false, tree }),
  };
}
