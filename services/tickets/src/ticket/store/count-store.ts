import { type Condition, matchesValue } from '@ticketing/rest/codec/filter.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { storeCall, translateTimeLimit } from '@ticketing/store/document/store-error.ts';
import { filterKeys, requiresValue } from '../rules/keys.ts';
import type { ClosedIdStore } from './closed-id-store.ts';
import { documentField } from './filter-query.ts';
import { maxQueryMs, tooSlowDetail } from './list-store.ts';
import { type IndexReason, isNotDeleted, type TicketCollection, ticketIndexes } from './schema.ts';

/** Exact numbers of tickets (docs/decisions/0050). Errors of every operation: store_unavailable, search_too_slow. */
export interface TicketCountStore {
  count(list: CountedList): Promise<number>;
}

/** A list whose tickets are counted. */
export interface CountedList {
  /** The query that a ticket must match: the conditions, and perhaps more. */
  query: Query;
  conditions: readonly Condition[];
  /** Whether the query is made of the conditions only. */
  isUnscoped: boolean;
}

/**
 * The number of documents with closed ids, plus those that match `plus`, less those that match `minus`. Subtracted
 * documents have closed ids, so that none is created meanwhile that is counted without being subtracted.
 */
interface Sum {
  plus: readonly Query[];
  minus: readonly Query[];
  closedIds?: number;
}

/** Enumerations with an index that are set in every ticket: the tickets of a value are those of no other one. */
const enumerations = ['t.status', 't.priority'] as const;

export function ticketCountStore(tickets: TicketCollection, closedIds: Pick<ClosedIdStore, 'last'>): TicketCountStore {
  const largerParts = new Map<string, boolean>();

  async function countWithValues(field: string, { matching, others }: Values): Promise<number> {
    const last = await closedIds.last();
    const having = (value: string | number): Query => ({ [field]: value });
    const upToLast = (value: string | number): Query => ({ [field]: value, _id: { $lte: last } });
    const name = `${field} ${matching.join()}`;
    const sum = largerParts.get(name)
      ? {
          closedIds: last,
          plus: [{ [field]: { $in: matching }, _id: { $gt: last } }],
          minus: [notTickets(last), ...others.map(upToLast)],
        }
      : { plus: matching.map(having), minus: [] };
    const count = await countSum(tickets, sum);
    largerParts.set(name, count > last / 2);
    return count;
  }

  async function count({ query, conditions, isUnscoped }: CountedList): Promise<number> {
    if (isUnscoped && conditions.length === 0) return countSum(tickets, allTickets(await closedIds.last()));
    const [first] = conditions;
    const values = isUnscoped && conditions.length === 1 && first ? readValues(first) : undefined;
    if (first && values) return countWithValues(documentField(first.key), values);
    if (conditions.some(requiresValue)) return countSum(tickets, { plus: [query], minus: [] });
    const isCovered = isUnscoped && conditions.length === 1 && first && hasIndex(first);
    if (!isCovered) return countSum(tickets, { plus: [{ $and: [query, isNotDeleted] }], minus: [] });
    return countSum(tickets, withoutOthers(query, first, await closedIds.last()));
  }

  return { count: (list) => storeCall(() => translateTimeLimit(tooSlowDetail, () => count(list))) };
}

/**
 * The documents with closed ids that are no tickets: deleted and void ones. All of these are there already, whereas ids
 * above may become void during a count. With null, MongoDB counts the entries of an index without reading the documents.
 */
const notTickets = (lastClosedId: number): Query => ({ status: null, _id: { $lte: lastClosedId } });

/** The tickets with higher ids. Every ticket has a priority, which seldom changes, and other documents have none. */
const laterTickets = (lastClosedId: number): Query => ({ priority: { $gt: 0 }, _id: { $gt: lastClosedId } });

/** Each closed id has a document. */
function allTickets(lastClosedId: number): Sum {
  return { closedIds: lastClosedId, plus: [laterTickets(lastClosedId)], minus: [notTickets(lastClosedId)] };
}

/** Whether an index has all that a condition compares, so that no documents are read. An index of lists does not. */
function hasIndex({ key }: Condition): boolean {
  const field = documentField(key);
  const isOfField = ({ index }: IndexReason) => Object.keys(index).join() === `${field},_id`;
  return key === 't.id' || (ticketIndexes.some(isOfField) && !filterKeys.get(key)?.isList);
}

/**
 * The tickets that match a condition that requires no value, which other documents match too: these have nothing but an
 * id.
 */
function withoutOthers(query: Query, { key }: Condition, lastClosedId: number): Sum {
  const others = notTickets(lastClosedId);
  return {
    plus: [{ $and: [query, { _id: { $lte: lastClosedId } }] }, { $and: [query, laterTickets(lastClosedId)] }],
    minus: [key === 't.id' ? { $and: [query, others] } : others],
  };
}

/** The values of an enumeration that a condition matches, and the others. */
interface Values {
  matching: (string | number)[];
  others: (string | number)[];
}

/** Undefined if the key of the condition is not one of `enumerations`. */
function readValues(condition: Condition): Values | undefined {
  const key = enumerations.find((name) => name === condition.key);
  const { spellings } = (key && filterKeys.get(key)) ?? {};
  if (!spellings) return undefined;
  const { true: matching = [], false: others = [] } = Object.groupBy(new Set(spellings.values()), (value) =>
    matchesValue(condition, value) ? 'true' : 'false',
  );
  return { matching, others };
}

/** Counts all parts in one round trip, each by its own index. */
async function countSum(tickets: TicketCollection, { plus, minus, closedIds = 0 }: Sum): Promise<number> {
  const parts = [
    ...minus.map((match) => [{ $match: match }, { $count: 'minus' }]),
    ...plus.map((match) => [{ $match: match }, { $count: 'plus' }]),
  ];
  const [first, ...others] = parts;
  if (!first) return closedIds;
  const unions = others.map((pipeline) => ({ $unionWith: { coll: tickets.collectionName, pipeline } }));
  const options = { maxTimeMS: maxQueryMs };
  const counts = await tickets.aggregate<{ plus?: number; minus?: number }>([...first, ...unions], options).toArray();
  return Math.max(
    0,
    counts.reduce((sum, part) => sum + (part.plus ?? 0) - (part.minus ?? 0), closedIds),
  );
}
