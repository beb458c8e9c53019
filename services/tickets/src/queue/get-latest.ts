import { TicketScope, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  type GetLatestTicketsRequest,
  type GetLatestTicketsResponse,
  PreferredDirection,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput, notFound } from '@ticketing/errors/domain-error.ts';
import { type Condition, matchesValue, readFilters } from '@ticketing/rest/codec/filter.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { combineQueries, type Query } from '@ticketing/store/document/field-query.ts';
import type { TicketSettings } from '../settings.ts';
import type { CheckDeps } from '../ticket/checks.ts';
import { ticketFields } from '../ticket/rules/fields.ts';
import { filterKeys } from '../ticket/rules/keys.ts';
import { queueGroups } from '../ticket/rules/queue-keys.ts';
import { compileConditions, runTimeSpamQueries, scopeQueries } from '../ticket/store/filter-query.ts';
import type { QueueStore } from './store.ts';

interface QueueDeps extends CheckDeps {
  queue: QueueStore;
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
  const key = ticketId === undefined ? undefined : await deps.queue.findKey(ticketId, settings.routingOrder);
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

const statusKey = 't.status';
const spamStatusKey = 't.spamStatus';

/**
 * Opens the queue of the tickets that match all conditions and scope queries, in the order of the settings. Without a
 * condition on `t.status` it has open tickets only, and without one on `t.spamStatus` no spam. Each operation returns the
 * id of a ticket, if there is one.
 *
 * Source: docs/reference/api.md, Queue.
 */
function openQueue(
  { queue, runtime }: { queue: QueueStore; runtime: Runtime },
  settings: TicketSettings,
  conditions: readonly Condition[] = [],
  scope: readonly Query[] = [],
) {
  const isOnStatus = ({ key }: Condition) => key === statusKey;
  const includesSpam = conditions.some(({ key }) => key === spamStatusKey);
  const groups = wantedGroups(conditions.filter(isOnStatus), includesSpam);
  const others = conditions.filter((condition) => !isOnStatus(condition));
  const query = combineQueries([
    ...compileConditions(others, { now: secondsNow(runtime), defaultCountry: settings.defaultCountry }),
    ...(includesSpam ? [] : runTimeSpamQueries(settings.spamDetectionTagId)),
    ...scope,
  ]);
  const request = { query, groups, order: settings.routingOrder, isFiltered: others.length > 0 };
  return {
    first: () => queue.first({ ...request, position: undefined }),
    /** The next ticket before or after a position. `key` is the position, as `queueKeys` makes it for a ticket. */
    neighbour: (side: 'before' | 'after', key: string) => queue.first({ ...request, position: { side, key } }),
  };
}

/** The numbers of the queue groups to search. They replace the conditions on the status. */
function wantedGroups(statusConditions: readonly Condition[], includesSpam: boolean): number[] {
  return queueGroups.flatMap(({ status, isSpam }, group) => {
    const spelling = String(ticketFields.status.store(status));
    const hasStatus =
      statusConditions.length === 0
        ? status === TicketStatus.OPEN
        : statusConditions.every((condition) => matchesValue(condition, spelling));
    return hasStatus && (includesSpam || !isSpam) ? [group] : [];
  });
}
