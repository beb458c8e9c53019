import { combineQueries, type Query } from '@ticketing/store/document/field-query.ts';
import { storeCall, translateTimeLimit } from '@ticketing/store/document/store-error.ts';
import { mongo } from 'mongoose';
import { defaultQueueGroup, idOfQueueKey, type RoutingOrder } from '../ticket/rules/queue-keys.ts';
import { runTimeSpamQueries } from '../ticket/store/filter-query.ts';
import { maxQueryMs, tooSlowDetail } from '../ticket/store/list-store.ts';
import type { TicketCollection, TicketDocument } from '../ticket/store/schema.ts';
import type { ReadKeysAround } from './neighbours-query.ts';

/** The queue of tickets. Errors: store_unavailable, search_too_slow. */
export interface QueueStore {
  /** Finds the first ticket that matches, from the start of the queue or from a position in it. */
  first(request: QueueRequest): Promise<number | undefined>;
  /** Reads the position of a ticket, in the queue or not; undefined if there is no such ticket. */
  findKey(ticketId: number, order: RoutingOrder): Promise<string | undefined>;
  /** Reads the keys around a position of the queue without conditions of a request. */
  keysAround: ReadKeysAround;
}

/** Which ticket of the queue to find. */
interface QueueRequest {
  query: Query;
  /** The numbers of the queue groups to search. */
  groups: readonly number[];
  order: RoutingOrder;
  /** The position, and whether to find the nearest ticket before or after it. Undefined: from the start. */
  position: { side: 'before' | 'after'; key: string } | undefined;
  /** Whether the query contains conditions of the request. */
  isFiltered: boolean;
}

type QueueEntry = Pick<TicketDocument, 'queueKeys'>;

export function queueStore(tickets: TicketCollection): QueueStore {
  const inTime = <Result>(operation: () => Promise<Result>) =>
    storeCall(() => translateTimeLimit(tooSlowDetail, operation));
  return {
    first: (request) => inTime(() => findFirst(tickets, request)),
    findKey: (ticketId, order) =>
      storeCall(async () => {
        const options = { projection: { _id: 0, [`queueKeys.${order}`]: 1 } };
        // A deleted ticket has none.
        return (await tickets.findOne<Partial<QueueEntry>>({ _id: ticketId }, options))?.queueKeys?.[order];
      }),
    keysAround: ({ order, spamTagId }, key, width) =>
      inTime(async () => {
        const range = {
          group: defaultQueueGroup,
          order,
          query: combineQueries(runTimeSpamQueries(spamTagId)),
          isFiltered: false,
        };
        const [before, after] = await Promise.all([
          findKeys(tickets, { ...range, direction: -1, bound: { $lt: key }, limit: width }),
          findKeys(tickets, { ...range, direction: 1, bound: { $gte: key }, limit: width + 1 }),
        ]);
        return { before, after };
      }),
  };
}

/** Finds the first ticket of each group, which is one range of an index, and returns the first of them. */
async function findFirst(tickets: TicketCollection, request: QueueRequest): Promise<number | undefined> {
  const { query, groups, order, position, isFiltered } = request;
  const direction = position?.side === 'before' ? -1 : 1;
  const bound = position && { [direction === 1 ? '$gt' : '$lt']: position.key };
  const found = await Promise.all(
    groups.map((group) => findKeys(tickets, { group, query, order, isFiltered, direction, bound, limit: 1 })),
  );
  const [first] = found.flat().sort((left, right) => (left < right ? -direction : direction));
  return first === undefined ? undefined : idOfQueueKey(first);
}

/** A range of one group of the queue. */
interface KeyRange extends Pick<QueueRequest, 'query' | 'order' | 'isFiltered'> {
  group: number;
  direction: 1 | -1;
  bound: Query | undefined;
  limit: number;
}

/**
 * Without conditions of the request, a hint names the index. Otherwise MongoDB may use, at the start of the queue, a plan
 * that it cached for a position near the end; that plan would sort the whole queue.
 */
async function findKeys(
  tickets: TicketCollection,
  { group: queueGroup, query, order, isFiltered, direction, bound, limit }: KeyRange,
): Promise<string[]> {
  const field = `queueKeys.${order}`;
  const find = async (hint: { hint?: Record<string, 1> }) => {
    const found = await tickets
      .find<QueueEntry>(
        { queueGroup, ...(bound ? { [field]: bound } : {}), ...query },
        {
          // Without the id, which the key contains, the index has all that is read.
          projection: { _id: 0, [field]: 1 },
          sort: { [field]: direction },
          limit,
          singleBatch: true,
          batchSize: limit,
          maxTimeMS: maxQueryMs,
          ...hint,
        },
      )
      .toArray();
    return found.map(({ queueKeys }) => queueKeys[order]);
  };
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
