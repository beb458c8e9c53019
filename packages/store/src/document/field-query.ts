import type { Condition, FilterKey, FilterValue } from '@ticketing/rest/codec/filter.ts';

/** A MongoDB query. Its operators are constants of the code: values of a request are never objects. */
export type Query = Record<string, unknown>;

/** Matches no document, on every server. */
export const matchNothing: Query = { _id: { $in: [] } };

/**
 * Compiles a condition to a query on a field of a document, in which times are stored as dates and lists as arrays.
 *
 * Source: docs/reference/api.md, Filters.
 */
export function fieldQuery(field: string, condition: Condition, key: FilterKey): Query {
  const stored = (value: FilterValue) => (key.kind === 'time' ? new Date(Number(value) * 1000) : value);
  switch (condition.operator) {
    case '<':
      return { [field]: { $lt: stored(condition.value) } };
    case '<=':
      return { [field]: { $lte: stored(condition.value) } };
    case '>':
      return { [field]: { $gt: stored(condition.value) } };
    case '>=':
      return { [field]: { $gte: stored(condition.value) } };
    case 'between': {
      const range = { $gte: stored(condition.from), $lte: stored(condition.to) };
      return { [field]: key.isList ? { $elemMatch: range } : range };
    }
    case 'like':
      return { [field]: { $regex: likePattern(condition.pattern), $options: 'is' } };
    case 'in': {
      const values = condition.values.map(stored);
      if (key.isList && condition.orUnset) return { $or: [{ [field]: { $in: values } }, { [field]: { $size: 0 } }] };
      return { [field]: { $in: condition.orUnset ? [...values, null] : values } };
    }
    case 'notIn': {
      const values = condition.values.map(stored);
      if (key.isList && !condition.orUnset) return { [field]: { $nin: values, $not: { $size: 0 } } };
      return { [field]: { $nin: condition.orUnset ? values : [...values, null] } };
    }
  }
}

/**
 * Returns the regular expression for a `like` pattern. Each part between two `%` is searched for once, from left to
 * right, by an atomic group, so that no text takes more than linear time.
 */
export function likePattern(pattern: string): string {
  const parts = pattern.split('%').map(escapePattern);
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return `^${first}\\z`;
  const middle = rest.filter((part) => part !== '').map((part) => `(?>.*?${part})`);
  return `^${first}${middle.join('')}${last === '' ? '' : `.*${last}\\z`}`;
}

/** Returns the regular expression for a text as it is. */
export function escapePattern(part: string): string {
  // MongoDB ends a pattern at a NUL character.
  return part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('\0', '\\x00');
}

/** Combines queries into one that matches where all of them do. */
export function combineQueries(queries: readonly Query[]): Query {
  const [only] = queries;
  if (queries.length <= 1) return only ?? {};
  return { $and: queries };
}
