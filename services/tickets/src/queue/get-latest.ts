import { TicketScope } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  type GetLatestTicketsRequest,
  type GetLatestTicketsResponse,
  PreferredDirection,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput, notFound } from '@ticketing/errors/domain-error.ts';
import { readFilters } from '@ticketing/rest/codec/filter.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { ReadSettings } from '../settings.ts';
import type { TagStore } from '../tag/store.ts';
import { filterKeys } from '../ticket/rules/keys.ts';
import { scopeQueries } from '../ticket/store/scope-query.ts';
import { openQueue } from './queue.ts';
import type { QueueStore } from './store.ts';

/** The dependencies of `getLatestTickets`. */
export interface QueueDeps {
  queue: QueueStore;
  tags: Pick<TagStore, 'tree'>;
  settings: ReadSettings;
  runtime: Runtime;
}

/**
 * Returns the first id of the queue, and the ids before and after a ticket in it, if there are any. Without
 * filters on `t.status` and `t.spamStatus` the queue has open tickets that are not spam.
 *
 * Errors: invalid_filter, ticket_not_found; required, for a direction without a ticket.
 * Source: docs/reference/api.md, Queue.
 */
export async function getLatestTickets(
  deps: QueueDeps,
  call: Call,
  request: GetLatestTicketsRequest,
): Promise<GetLatestTicketsResponse> {
  const { ticketId, preferredDirection = PreferredDirection.EARLIEST } = request;
  if (ticketId === undefined && preferredDirection !== PreferredDirection.EARLIEST) {
    const detail = 'is required to go to the previous or next ticket';
    throw invalidInput([{ pointer: '#/ticketId', code: 'required', detail }]);
  }
  const conditions = readFilters(request.filters, filterKeys, 't.');
  const settings = await deps.settings();
  const scope =
    request.ticketScope === TicketScope.SKILLS
      ? scopeQueries(call.caller, await deps.tags.tree(), settings.spamDetectionTagId)
      : [];
  const queue = openQueue(deps, settings, conditions, scope);
  const key = ticketId === undefined ? undefined : await deps.queue.keyOf(ticketId, settings.routingOrder);
  if (ticketId !== undefined && key === undefined) throw notFound('Ticket');
  const [earliest, previous, next] = await Promise.all([
    queue.first(),
    key === undefined ? undefined : queue.neighbour('before', key),
    key === undefined ? undefined : queue.neighbour('after', key),
  ]);
  return {
    $typeName: 'ticketing.tickets.v1.GetLatestTicketsResponse',
    ...(earliest === undefined ? {} : { earliest }),
    ...(previous === undefined ? {} : { previous }),
    ...(next === undefined ? {} : { next }),
  };
}
