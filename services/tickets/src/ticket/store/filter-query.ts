import type { Condition } from '@ticketing/rest/codec/filter.ts';
import { fieldQuery, matchNothing, type Query } from '@ticketing/store/document/field-query.ts';
import { splitWords } from '@ticketing/text/words.ts';
import { activeWithinSeconds } from '../rules/active-customer.ts';
import { filterKeys } from '../rules/keys.ts';

/** Keys whose field of the document has another name. */
const fieldOfKey: Record<string, string> = { 't.id': '_id', 'tt.tagId': 'tagIds', 'i.aiAgentId': 'aiAgentIds' };

/** The field of the document that the conditions of a key compare. */
export function documentField(key: string): string {
  return fieldOfKey[key] ?? key.slice(key.indexOf('.') + 1);
}

/**
 * Compiles conditions that were checked already. A ticket must match all of the queries.
 *
 * Units: `now` in Unix seconds; some conditions depend on it.
 * Source: docs/reference/api.md, Filters.
 */
export function compileConditions(conditions: readonly Condition[], now: number): Query[] {
  return conditions.map((condition) => {
    const key = filterKeys.get(condition.key);
    if (!key) throw new Error(`${condition.key} is not a key`);
    if (condition.key === 'q') return wordsQuery(condition);
    if (condition.key === 't.isCustomerActive') return activeQuery(condition, now);
    return fieldQuery(documentField(condition.key), condition, key);
  });
}

function wordsQuery(condition: Condition): Query {
  if (condition.operator !== 'in') throw new Error('q accepts = only');
  const words = splitWords(condition.values.map(String));
  return words.length === 0 ? matchNothing : { words: { $all: words } };
}

function activeQuery(condition: Condition, now: number): Query {
  if (condition.operator !== 'in' && condition.operator !== 'notIn') throw new Error('a truth value has no order');
  const matchesOf = (value: boolean) => condition.values.includes(value) === (condition.operator === 'in');
  if (matchesOf(true) && matchesOf(false)) return {};
  if (matchesOf(true)) return customerActive(now);
  return matchesOf(false) ? { $nor: [customerActive(now)] } : matchNothing;
}

/** Matches chats with a message of the customer in the last 5 minutes. Units: `now` in Unix seconds. */
export function customerActive(now: number): Query {
  return { channel: 'chat', lastCustomerMessageAt: { $gt: new Date((now - activeWithinSeconds) * 1000) } };
}
