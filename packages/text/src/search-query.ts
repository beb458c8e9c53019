import { spellUmlauts } from './letters.ts';
import type { DefaultCountry } from './phone-number.ts';
import {
  characterPairs,
  findNumbers,
  fold,
  isSpaceless,
  joinGroups,
  maxWordLength,
  type PhoneAttempts,
  phonesIn,
  scriptParts,
  tokens,
  type WrittenNumber,
} from './words.ts';

/** A word that a document must have, as `splitWords` makes them: the whole word, or one that begins with it. */
export interface SoughtWord {
  word: string;
  isBeginning: boolean;
}

/** A demand of a search: all words of one of these lists. */
export type SearchTerm = readonly (readonly SoughtWord[])[];

/** How a search is read. */
export interface SearchOptions {
  defaultCountry?: DefaultCountry;
  /** From how many characters on a word matches beginnings; usually 3. */
  leastBeginning?: number;
}

/** Makes a word that is sought. */
type Sought = (word: string) => SoughtWord;

/** The most words that a search seeks. */
const maxWords = 32;
/** The characters of a search that are read. */
const maxSearchLength = 4096;
/** How often telephone numbers are tried to be read in a search. */
const maxPhoneAttempts = 50;
/** The most spellings of a number that are sought. */
const maxSpellings = 4;

/** Whether a search has words. */
export function hasWords(q: string): boolean {
  return fold(q.slice(0, maxSearchLength)).search(tokens) !== -1;
}

/**
 * Reads what a person types to find documents by the words of `splitWords`: those that have all of the terms. Words match
 * beginnings from three characters on, usually. A number matches however its groups are written, a telephone number with and
 * without the code of its country, a word with umlauts in both spellings.
 *
 * Shape: at most 32 words, of all terms together; empty for a text without words.
 */
export function readSearch(q: string, { defaultCountry = null, leastBeginning = 3 }: SearchOptions = {}): SearchTerm[] {
  const text = q
    .slice(0, maxSearchLength)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\b(?:tel|callto|sms):/g, ' ')
    .replace(/;(?:ext|phone-context|isub)=[^\s;]*/g, '')
    .replace(/\p{Cf}/gu, '');
  const sought = (word: string): SoughtWord => ({
    word: word.slice(0, maxWordLength),
    isBeginning: word.length >= leastBeginning,
  });
  const terms = new Map<string, SearchTerm>();
  const add = (term: SearchTerm) => terms.set(JSON.stringify(term), term);
  const attempts = { left: maxPhoneAttempts };
  let end = 0;
  const numbers = [...findNumbers(text)].sort((left, right) => left.index - right.index);
  for (const number of numbers) {
    if (terms.size >= maxWords) break;
    if (number.index < end || isWithinWord(text, number.index)) continue;
    if (number.groups.length < 2 && number.letters === '' && !isPhone(number)) continue;
    for (const term of wordTerms(text.slice(end, number.index), sought)) add(term);
    add(numberTerm(number, { country: defaultCountry, attempts }, sought));
    end = number.index + number.text.length;
  }
  for (const term of wordTerms(text.slice(end), sought)) add(term);
  return firstWords([...terms.values()]);
}

/** The terms that have at most `maxWords` words together; of one that has more, its first ones. */
function firstWords(terms: readonly SearchTerm[]): SearchTerm[] {
  let left = maxWords;
  return terms.flatMap((term) => {
    if (left <= 0) return [];
    const kept = term.map((words) => words.slice(0, left));
    left -= Math.max(...kept.map((words) => words.length));
    return [kept];
  });
}

const isWithinWord = (text: string, index: number) => /[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, index - 2), index));

const isPhone = ({ text }: WrittenNumber) => /^[+0]/.test(text);

function numberTerm(
  number: WrittenNumber,
  { country, attempts }: { country: DefaultCountry; attempts: PhoneAttempts },
  sought: Sought,
): SearchTerm {
  const { letters, groups, isIban } = number;
  const before = foldedTerms(letters, sought).flatMap(([words = []]) => words);
  const phones = isIban ? [] : phonesIn(number, country, attempts);
  const joined = [...new Set([joinGroups(groups), ...phones])].slice(0, maxSpellings);
  return [
    ...(letters === '' ? [] : [[sought(joinGroups([fold(letters), ...groups]))]]),
    ...joined.map((word) => [...before, sought(word)]),
    ...(groups.length > 1 ? [[...before, ...groups.map(sought)]] : []),
  ];
}

function wordTerms(text: string, sought: Sought): SearchTerm[] {
  return [...text.matchAll(written)].flatMap(([word]) => {
    const terms = foldedTerms(word, sought);
    const spelt = spellUmlauts(word);
    // Two letters stay two, however they are spelt.
    const others = spelt === word ? [] : foldedTerms(spelt, (one) => ({ ...sought(word), word: sought(one).word }));
    return terms.map((term, at) => [...term, ...(others[at] ?? [])]);
  });
}

/** A word as it is written, with its accents, or an emoji. */
const written = new RegExp(tokens.source.replace('[\\p{L}\\p{N}]+', '[\\p{L}\\p{N}\\p{M}]+'), 'gu');

function foldedTerms(word: string, sought: Sought): SearchTerm[] {
  // A character can become several words.
  return [...fold(word).matchAll(tokens)].flatMap(([token]) =>
    scriptParts(token).map((part): SearchTerm => {
      if (!isSpaceless(part)) return [[sought(part)]];
      const pairs = characterPairs(part);
      if (pairs.length === 1) return [[{ word: part, isBeginning: true }]];
      return [pairs.slice(0, -1).map((pair) => ({ word: pair, isBeginning: false }))];
    }),
  );
}
