import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { type Condition, matchesValue } from '@ticketing/rest/filter.ts';
import { allOf, type Query } from '@ticketing/store/field-query.ts';
import { queueGroups } from '../domain/queue-order.ts';
import { ticketFields } from '../domain/ticket-fields.ts';
import type { TicketSettings } from '../settings.ts';
import { compileConditions } from '../store/filter-query.ts';
import { runTimeSpamQueries } from '../store/scope-query.ts';
import type { Context } from './context.ts';

/** The queue of tickets, in the order that the settings say. */
export interface Queue {
  first(): Promise<number | undefined>;
  /** The nearest ticket before or behind a place. */
  beside(side: 'before' | 'behind', key: string): Promise<number | undefined>;
}

const statusKey = 't.status';
const spamKey = 't.spamStatus';

/**
 * Opens the queue: open tickets that are not spam, unless conditions on `t.status` or `t.spamStatus` say otherwise.
 *
 * Source: decisions.md section 5.
 */
export function openQueue(
  context: Context,
  settings: TicketSettings,
  conditions: readonly Condition[] = [],
  scope: readonly Query[] = [],
): Queue {
  const ofStatus = conditions.filter(({ key }) => key === statusKey);
  const saysSpam = conditions.some(({ key }) => key === spamKey);
  const groups = queueGroups.flatMap(({ status, isSpam }, group) => {
    const isWanted =
      ofStatus.length === 0
        ? status === TicketStatus.OPEN
        : ofStatus.every((condition) => matchesValue(condition, String(ticketFields.status.store(status))));
    return isWanted && (saysSpam || !isSpam) ? [group] : [];
  });
  const others = conditions.filter(({ key }) => key !== statusKey);
  const query = allOf([
    ...compileConditions(others, context.now()),
    ...(saysSpam ? [] : runTimeSpamQueries(settings.spamDetectionTagId)),
    ...scope,
  ]);
  const request = { query, groups, order: settings.routingOrder, isFiltered: others.length > 0 };
  return {
    first: () => context.tickets.firstInQueue({ ...request, beside: undefined }),
    beside: (side, key) => context.tickets.firstInQueue({ ...request, beside: { side, key } }),
  };
}
