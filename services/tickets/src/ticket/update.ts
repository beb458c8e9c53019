import type {
  UpdateTicketRequest,
  UpdateTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import { renderTraceparent } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { versionPrecondition } from '@ticketing/service-kit/call/if-match.ts';
import type { ReadSettings } from '../settings.ts';
import type { TagStore } from '../tag/store.ts';
import { findSubchannelViolations } from './checks.ts';
import { planPatch, readPatch, slaRulesWith } from './patch.ts';
import type { RefreshDeps } from './refresh-customer.ts';
import { setsTags, tagViolations } from './rules/patch.ts';
import { ticketSubject } from './store/document.ts';
import type { TicketViews } from './views.ts';

interface UpdateTicketDeps extends RefreshDeps {
  tags: Pick<TagStore, 'tree' | 'recentTree'>;
  settings: ReadSettings;
  views: Pick<TicketViews, 'written'>;
}

/**
 * Changes a ticket.
 *
 * Errors: ticket_not_found, unknown_tag, unknown_subchannel, subchannel_disabled; stale_version, if `If-Match` names another version.
 * Source: docs/reference/api.md, Updating a ticket.
 */
export async function updateTicket(
  deps: UpdateTicketDeps,
  call: Call,
  request: UpdateTicketRequest,
): Promise<UpdateTicketResponse> {
  const { caller } = call;
  const patch = readPatch(request);
  // The deadlines that follow from new tags are stored, so they follow from the tags as they are now.
  const tree = await (setsTags(patch) ? deps.tags.tree() : deps.tags.recentTree());
  const violations = [
    ...tagViolations(patch, tree, '#'),
    ...(await findSubchannelViolations(deps.settings, [{ input: patch.input, pointer: '#' }])),
  ];
  if (violations.length > 0) throw invalidInput(violations);
  call.idempotency?.addSubject(ticketSubject(request.ticketId));
  const plan = planPatch(deps, request.ticketId, patch, {
    caller,
    traceparent: renderTraceparent(call.trace),
    now: secondsNow(deps.runtime),
    includeInWorklog: request.includeInWorklog ?? true,
    sla: await slaRulesWith(deps, tree),
    requireVersion: versionPrecondition(call),
  });
  const stored = await deps.commit({ ...plan, requestId: call.idempotency?.id });
  return {
    $typeName: 'ticketing.tickets.v1.UpdateTicketResponse',
    success: true,
    ticket: await deps.views.written(call, stored, { withRawData: false, tree }),
  };
}
