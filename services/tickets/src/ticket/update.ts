import type {
  UpdateTicketRequest,
  UpdateTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { traceparentOf } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { versionPrecondition } from '@ticketing/service-kit/call/if-match.ts';
import { type Context, ticketSubject } from '../context.ts';
import { applyPatch } from './apply-patch.ts';
import { findSubchannelViolations } from './find-subchannel-violations.ts';
import { readPatch } from './read-patch.ts';
import { slaRulesOf } from './read-sla.ts';
import { setsTags, tagViolations } from './rules/patch.ts';
import { ticketThatWasWritten } from './single-to-proto.ts';

/**
 * Changes a ticket.
 *
 * Errors: ticket_not_found, unknown_tag, unknown_subchannel, subchannel_disabled; stale_version, if `If-Match` names another version.
 * Source: docs/reference/api.md, Updating a ticket.
 */
export async function updateTicket(
  context: Context,
  call: Call,
  request: UpdateTicketRequest,
): Promise<UpdateTicketResponse> {
  const { caller } = call;
  const patch = readPatch(request);
  // The deadlines that follow from new tags are stored, so they follow from the tags as they are now.
  const tree = await (setsTags(patch) ? context.tags.tree() : context.tags.recentTree());
  const violations = [
    ...tagViolations(patch, tree, '#'),
    ...(await findSubchannelViolations(context, [{ input: patch.input, pointer: '#' }])),
  ];
  if (violations.length > 0) throw invalidInput(violations);
  call.idempotency?.addSubject(ticketSubject(request.ticketId));
  const patchRequest = {
    caller,
    traceparent: traceparentOf(call.trace),
    now: context.now(),
    includeInWorklog: request.includeInWorklog ?? true,
    sla: await slaRulesOf(context, tree),
    requireVersion: versionPrecondition(call),
  };
  const options = { requestId: call.idempotency?.id };
  const stored = await applyPatch(context, request.ticketId, patch, patchRequest, options);
  return {
    $typeName: 'ticketing.tickets.v1.UpdateTicketResponse',
    success: true,
    ticket: await ticketThatWasWritten(context, call, stored, { withRawData: false, tree }),
  };
}
