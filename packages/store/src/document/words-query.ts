import type { SearchTerm, SoughtWord } from '@ticketing/text/search-query.ts';
import { combineQueries, escapePattern, matchNothing, type Query } from './field-query.ts';

/**
 * Makes the queries that a document meets if it has all terms of a search among the words of some fields: each term in one
 * of the fields, or all of its words in any of them. A search without terms matches nothing.
 *
 * One term, the longest, is to be sought in the index, and the others in the documents found. A pattern needs no
 * document, a range takes a third of the time in one.
 */
export function wordsQueries(fields: readonly string[], terms: readonly SearchTerm[]): Query[] {
  if (terms.length === 0) return [matchNothing];
  const longest = Math.max(...terms.map(termLength));
  const sought = terms.findIndex((term) => termLength(term) === longest);
  return terms.map((term, at) => {
    const beginning = at === sought ? beginningPattern : beginningRange;
    const query = ({ word, isBeginning }: SoughtWord) => {
      const value = isBeginning ? beginning(word) : word;
      return alternatives(fields.map((field) => ({ [field]: value })));
    };
    return alternatives(term.map((words) => combineQueries(words.map(query))));
  });
}

/** The length of the shortest word that a term may find. */
function termLength(term: SearchTerm): number {
  return Math.min(...term.map((words) => Math.max(...words.map(({ word }) => word.length))));
}

const beginningPattern = (word: string) => ({ $regex: `^${escapePattern(word)}` });

/** The last of all characters. */
const highest = '\u{10ffff}';

const beginningRange = (word: string) => ({ $elemMatch: { $gte: word, $lt: word + highest } });

/** A query that matches where one of some does. */
function alternatives(queries: readonly Query[]): Query {
  const [only, ...others] = queries;
  return only && others.length === 0 ? only : { $or: queries };
}
