import type { SearchTerm, SoughtWord } from '@ticketing/text/search-query.ts';
import { combineQueries, escapePattern, matchNothing, type Query } from './field-query.ts';

/**
 * Makes the queries that a document meets if it has all terms of a search among the words of some fields: each term in one
 * of the fields, or all of its words in any of them. A search without terms matches nothing.
 */
export function wordsQueries(fields: readonly string[], terms: readonly SearchTerm[]): Query[] {
  if (terms.length === 0) return [matchNothing];
  return terms.map((term) =>
    alternatives(term.map((words) => combineQueries(words.map((word) => wordQuery(fields, word))))),
  );
}

function wordQuery(fields: readonly string[], { word, isBeginning }: SoughtWord): Query {
  const value = isBeginning ? { $regex: `^${escapePattern(word)}` } : word;
  return alternatives(fields.map((field) => ({ [field]: value })));
}

/** A query that matches where one of some does. */
function alternatives(queries: readonly Query[]): Query {
  const [only, ...others] = queries;
  return only && others.length === 0 ? only : { $or: queries };
}
