import type {
  GetTicketRequest,
  GetTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { refreshCustomer } from '../application/refresh-customer.ts';
import { ticketThatWasRead } from '../application/single-ticket.ts';
import { openQueue } from '../application/ticket-queue.ts';
import { queueKeys } from '../domain/queue-order.ts';

/**
 * Reads a ticket in full form, with its neighbours in the queue.
 *
 * Errors: ticket_not_found; too_much_at_once, sandbox_busy and sandbox_crashed, for a large ticket.
 * Source: docs/reference/api.md, Reading a ticket.
 */
export async function getTicket(context: Context, call: Call, request: GetTicketRequest): Promise<GetTicketResponse> {
  const [found, tree] = await Promise.all([context.tickets.find(request.ticketId), context.tags.tree()]);
  if (!found) throw notFound('Ticket');
  const isCacheOnly = request.erpCacheOnly ?? false;
  const deadline = context.customers.deadline();
  const mustRefresh = (request.refresh ?? false) && !isCacheOnly;
  const stored = mustRefresh ? await refreshCustomer(context, call, found, deadline) : found;
  const { ticket } = stored;
  const settings = await context.settings();
  const queue = openQueue(context, settings);
  const key = queueKeys(ticket)[settings.routingOrder];
  const erp = { mode: isCacheOnly ? 'cacheOnly' : 'cached', deadline } as const;
  const options = { withRawData: request.includeRawData ?? false, tree, erp };
  const [message, previous, next] = await Promise.all([
    ticketThatWasRead(context, call, stored, options),
    queue.neighbour('before', key),
    queue.neighbour('after', key),
  ]);
  return {
    $typeName: 'ticketing.tickets.v1.GetTicketResponse',
    ticket: message,
    ...(previous === undefined ? {} : { prevTicketId: previous }),
    ...(next === undefined ? {} : { nextTicketId: next }),
    ...(request.includeSessions === false
      ? {}
      : { sessions: { $typeName: 'ticketing.tickets.v1.AssistantSessions', items: [] } }),
  };
}
