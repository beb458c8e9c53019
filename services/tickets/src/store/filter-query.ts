import type { Condition, FilterKey, FilterValue } from '../domain/filter.ts';
import { filterKeys } from '../domain/ticket-keys.ts';
import { wordsOf } from '../domain/words.ts';

/** A MongoDB query made of literal operators; values that come from a request are never objects. */
export type Query = Record<string, unknown>;

/** Matches nothing, on every server. */
export const nothing: Query = { _id: { $in: [] } };

const activeWithinSeconds = 300;

/** Fields of the document that are not named like their key. */
const fieldOfKey: Record<string, string> = { 't.id': '_id', 'tt.tagId': 'tagIds', 'i.aiAgentId': 'aiAgentIds' };

/** The field of the document that a key compares. */
export function documentField(key: string): string {
  return fieldOfKey[key] ?? key.slice(key.indexOf('.') + 1);
}

/**
 * Compiles checked conditions, all of which must hold. Units: `now` in Unix seconds, for what depends on the time.
 *
 * Source: decisions.md section 4 (NULL, lists).
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

function fieldQuery(field: string, condition: Condition, key: FilterKey): Query {
  const kept = (value: FilterValue) => (key.kind === 'time' ? new Date(Number(value) * 1000) : value);
  switch (condition.operator) {
    case '<':
      return { [field]: { $lt: kept(condition.value) } };
    case '<=':
      return { [field]: { $lte: kept(condition.value) } };
    case '>':
      return { [field]: { $gt: kept(condition.value) } };
    case '>=':
      return { [field]: { $gte: kept(condition.value) } };
    case 'between': {
      const range = { $gte: kept(condition.from), $lte: kept(condition.to) };
      return { [field]: key.isList ? { $elemMatch: range } : range };
    }
    case 'like':
      return { [field]: { $regex: likePattern(condition.pattern), $options: 'is' } };
    case 'in': {
      const values = condition.values.map(kept);
      if (key.isList && condition.orUnset) return { $or: [{ [field]: { $in: values } }, { [field]: { $size: 0 } }] };
      return { [field]: { $in: condition.orUnset ? [...values, null] : values } };
    }
    case 'notIn': {
      const values = condition.values.map(kept);
      if (key.isList && !condition.orUnset) return { [field]: { $nin: values, $not: { $size: 0 } } };
      return { [field]: { $nin: condition.orUnset ? values : [...values, null] } };
    }
  }
}

/**
 * The regular expression of a `like` pattern. Each part between two `%` is looked for once, from left to right (atomic
 * groups), so that hostile text costs linear time.
 */
export function likePattern(pattern: string): string {
  const parts = pattern.split('%').map(escapePattern);
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return `^${first}\\z`;
  const middle = rest.filter((part) => part !== '').map((part) => `(?>.*?${part})`);
  return `^${first}${middle.join('')}${last === '' ? '' : `.*${last}\\z`}`;
}

function escapePattern(part: string): string {
  // A pattern of MongoDB ends at a NUL character.
  return part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('\0', '\\x00');
}

function wordsQuery(condition: Condition): Query {
  if (condition.operator !== 'in') throw new Error('q takes = only');
  const words = wordsOf(condition.values.map(String));
  return words.length === 0 ? nothing : { words: { $all: words } };
}

function activeQuery(condition: Condition, now: number): Query {
  if (condition.operator !== 'in' && condition.operator !== 'notIn') throw new Error('a truth value has no order');
  const matchesOf = (value: boolean) => condition.values.includes(value) === (condition.operator === 'in');
  if (matchesOf(true) && matchesOf(false)) return {};
  if (matchesOf(true)) return customerActive(now);
  return matchesOf(false) ? { $nor: [customerActive(now)] } : nothing;
}

/** The tickets whose customer is at the other end: a chat with a customer's message in the last 5 minutes. */
export function customerActive(now: number): Query {
  return { channel: 'chat', lastCustomerMessageAt: { $gt: new Date((now - activeWithinSeconds) * 1000) } };
}

/** A query that matches where all of several do. */
export function allOf(queries: readonly Query[]): Query {
  const [only] = queries;
  if (queries.length <= 1) return only ?? {};
  return { $and: queries };
}
