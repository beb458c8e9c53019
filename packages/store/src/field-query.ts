import type { Condition, FilterKey, FilterValue } from '@ticketing/rest/filter.ts';

/** A MongoDB query made of literal operators; values that come from a request are never objects. */
export type Query = Record<string, unknown>;

/** Matches nothing, on every server. */
export const matchNothing: Query = { _id: { $in: [] } };

/**
 * Compiles a condition on a field of a document: times are kept as dates, lists as arrays.
 *
 * Source: decisions.md section 4 (NULL, lists).
 */
export function fieldQuery(field: string, condition: Condition, key: FilterKey): Query {
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

/** A query that matches where all of several do. */
export function allOf(queries: readonly Query[]): Query {
  const [only] = queries;
  if (queries.length <= 1) return only ?? {};
  return { $and: queries };
}
