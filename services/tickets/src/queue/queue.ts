import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { type Condition, matchesValue } from '@ticketing/rest/codec/filter.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { allOf, type Query } from '@ticketing/store/document/field-query.ts';
import type { TicketSettings } from '../settings.ts';
import { ticketFields } from '../ticket/rules/fields.ts';
import { queueGroups } from '../ticket/rules/queue-keys.ts';
import { compileConditions } from '../ticket/store/filter-query.ts';
import { runTimeSpamQueries } from '../ticket/store/scope-query.ts';
import type { QueueStore } from './store.ts';

/** The queue of tickets, in the order of the settings. Each operation returns the id of a ticket, if there is one. */
export interface TicketQueue {
  first(): Promise<number | undefined>;
  /** The next ticket before or after a position. `key` is the position, as `queueKeys` makes it for a ticket. */
  neighbour(side: 'before' | 'after', key: string): Promise<number | undefined>;
}

const statusKey = 't.status';
const spamStatusKey = 't.spamStatus';

/**
 * Opens the queue of the tickets that match all conditions and scope queries. Without a condition on `t.status` it has
 * open tickets only, and without one on `t.spamStatus` no spam.
 *
 * Source: docs/reference/api.md, Queue.
 */
export function openQueue(
  { queue, runtime }: { queue: QueueStore; runtime: Runtime },
  settings: TicketSettings,
  conditions: readonly Condition[] = [],
  scope: readonly Query[] = [],
): TicketQueue {
  const isOnStatus = ({ key }: Condition) => key === statusKey;
  const includesSpam = conditions.some(({ key }) => key === spamStatusKey);
  const groups = wantedGroups(conditions.filter(isOnStatus), includesSpam);
  const others = conditions.filter((condition) => !isOnStatus(condition));
  const query = allOf([
    ...compileConditions(others, secondsNow(runtime)),
    ...(includesSpam ? [] : runTimeSpamQueries(settings.spamDetectionTagId)),
    ...scope,
  ]);
  const request = { query, groups, order: settings.routingOrder, isFiltered: others.length > 0 };
  return {
    first: () => queue.first({ ...request, position: undefined }),
    neighbour: (side, key) => queue.first({ ...request, position: { side, key } }),
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
