import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from '../ticket/event-header.ts';
import { decideFields } from '../ticket/rules/decision.ts';
import type { TicketInput, TicketState } from '../ticket/rules/fields.ts';
import type { StoredTicket } from '../ticket/store/stored-ticket.ts';
import { writeTicket } from '../ticket/write.ts';
import { firstMessageOf, hasSameCustomer, identify } from './identify.ts';

/**
 * Reads customer and contract of a ticket again, or looks for them if it has none, and returns the ticket with the
 * changes. If the ERP system does not respond in time, nothing changes.
 *
 * Errors: ticket_not_found, concurrent_change. Source: docs/reference/api.md, Reading a ticket.
 */
export async function refreshCustomer(
  context: Context,
  call: Pick<Call, 'caller' | 'trace'>,
  stored: StoredTicket,
  deadline: number,
): Promise<StoredTicket> {
  const { ticket } = stored;
  const { input, customer } = await identify(context, ticket, firstMessageOf(ticket), { mode: 'fresh', deadline });
  if (customer === undefined) return stored;
  const found = withoutLoss(ticket, input);
  if (hasSameCustomer({ ...ticket, ...found }, ticket)) return stored;
  return writeTicket(context, ticket.id, ({ ticket: current }) => {
    // Somebody else has set them since they were read.
    if (!hasSameCustomer(current, ticket)) return {};
    const { change } = decideFields(current, found, context.now(), eventHeaderOf(context, call));
    return change ? { change: { ...change, event: { ...change.event, cause: 'refresh' } } } : {};
  });
}

/** Keeps a higher score: a later message may have shown more than the first one, which alone counts here. */
function withoutLoss(before: TicketState, found: TicketInput): TicketInput {
  const isSameCustomer = found.customerId === before.customerId && found.contractId === before.contractId;
  if (!isSameCustomer || before.incomingMessages <= 1) return found;
  return {
    ...found,
    customerLegitimation: Math.max(before.customerLegitimation, found.customerLegitimation ?? 0),
  };
}
