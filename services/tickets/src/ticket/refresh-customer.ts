import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { CustomerDirectory } from '../customer/directory.ts';
import { firstMessageOf, hasSameCustomer, identify } from '../customer/identify.ts';
import { eventHeaderOf } from '../event-header.ts';
import type { Commit } from './commit.ts';
import { decideFields } from './rules/decision.ts';
import type { TicketInput, TicketState } from './rules/fields.ts';
import type { StoredTicket } from './store/stored-ticket.ts';

/** The dependencies of `refreshCustomer`. */
export interface RefreshDeps {
  customers: CustomerDirectory;
  commit: Commit;
  runtime: Runtime;
}

/**
 * Reads customer and contract of a ticket again, or looks for them if it has none, and returns the ticket with the
 * changes. If the ERP system does not respond in time, nothing changes.
 *
 * Errors: ticket_not_found, concurrent_change. Source: docs/reference/api.md, Reading a ticket.
 */
export async function refreshCustomer(
  deps: RefreshDeps,
  call: Pick<Call, 'caller' | 'trace'>,
  stored: StoredTicket,
  deadline: number,
): Promise<StoredTicket> {
  const { ticket } = stored;
  const { input, customer } = await identify(deps, ticket, firstMessageOf(ticket), { mode: 'fresh', deadline });
  if (customer === undefined) return stored;
  const refreshed = withoutLoss(ticket, input);
  if (hasSameCustomer({ ...ticket, ...refreshed }, ticket)) return stored;
  return deps.commit({
    ticketId: ticket.id,
    decide({ ticket: current }) {
      // Somebody else has set them since they were read.
      if (!hasSameCustomer(current, ticket)) return {};
      const { change } = decideFields(current, refreshed, secondsNow(deps.runtime), eventHeaderOf(deps, call));
      return change ? { change: { ...change, event: { ...change.event, cause: 'refresh' } } } : {};
    },
  });
}

/** Keeps a higher score: a later message may have shown more than the first one, which alone counts here. */
function withoutLoss(before: TicketState, after: TicketInput): TicketInput {
  const isSameCustomer = after.customerId === before.customerId && after.contractId === before.contractId;
  if (!isSameCustomer || before.incomingMessages <= 1) return after;
  return {
    ...after,
    customerLegitimation: Math.max(before.customerLegitimation, after.customerLegitimation ?? 0),
  };
}
