import type { Query } from '@ticketing/store/field-query.ts';
import { storeCall, translateTimeLimit } from '@ticketing/store/store-error.ts';
import { mongo } from 'mongoose';
import type { RoutingOrder } from '../domain/queue-order.ts';
import { maxQueryMs, tooSlowDetail } from './ticket-list-store.ts';
import type { TicketCollection, TicketDocument } from './ticket-model.ts';

/** The queue of tickets. Errors: store_unavailable, search_too_slow. */
export interface QueueStore {
  /** Finds the first ticket that matches, from the start of the queue or from a position in it. */
  first(request: QueueRequest): Promise<number | undefined>;
}

/** Which ticket of the queue to find. */
export interface QueueRequest {
  query: Query;
  /** The numbers of the queue groups to search. */
  groups: readonly number[];
  order: RoutingOrder;
  /** The position, and whether to find the nearest ticket before or after it. Undefined: from the start. */
  position: { side: 'before' | 'after'; key: string } | undefined;
  /** Whether the query contains conditions of the request. */
  isFiltered: boolean;
}

type QueueEntry = Pick<TicketDocument, '_id' | 'queueKeys'>;

/** Opens the queue of a collection of tickets. */
export function queueStore(tickets: TicketCollection): QueueStore {
  return {
    first: (request) => storeCall(() => translateTimeLimit(tooSlowDetail, () => findFirst(tickets, request))),
  };
}

/** Finds the first ticket of each group, which is one range of an index, and returns the first of them. */
async function findFirst(tickets: TicketCollection, request: QueueRequest): Promise<number | undefined> {
  const { order, position } = request;
  const direction = position?.side === 'before' ? -1 : 1;
  const found = await Promise.all(request.groups.map((group) => findFirstOfGroup(tickets, group, direction, request)));
  const firsts = found.filter((first) => first !== null);
  firsts.sort((left, right) => (left.queueKeys[order] < right.queueKeys[order] ? -direction : direction));
  return firsts[0]?._id;
}

/**
 * Without conditions of the request, a hint names the index. Otherwise MongoDB may use, at the start of the queue, a plan
 * that it cached for a position near the end; that plan would sort the whole queue.
 */
async function findFirstOfGroup(
  tickets: TicketCollection,
  queueGroup: number,
  direction: 1 | -1,
  { query, order, position, isFiltered }: QueueRequest,
): Promise<QueueEntry | null> {
  const field = `queueKeys.${order}`;
  const range = position ? { [field]: { [direction === 1 ? '$gt' : '$lt']: position.key } } : {};
  const find = (options: { hint?: Record<string, 1> }) =>
    tickets.findOne<QueueEntry>(
      { queueGroup, ...range, ...query },
      { projection: { [field]: 1 }, sort: { [field]: direction }, maxTimeMS: maxQueryMs, ...options },
    );
  if (isFiltered) return find({});
  return find({ hint: { queueGroup: 1, [field]: 1 } }).catch((error: unknown) => {
    if (isMissingIndex(error)) return find({});
    throw error;
  });
}

/** The service may run before its indexes are built. */
function isMissingIndex(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === 2;
}
