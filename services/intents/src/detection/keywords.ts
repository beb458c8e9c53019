import { wordSequence } from '@ticketing/text/words.ts';

/** A longer keyword is cut, before it is looked for. */
const maxKeywordChars = 200;

/**
 * Finds which of the keywords folded words contain: as whole words in their order, without regard to case, accents and
 * punctuation. A keyword without letters and digits is in no text.
 */
export function keywordsIn(words: string, keywords: readonly string[]): string[] {
  const all = new Set(words.split(' '));
  return keywords.filter((keyword) => {
    const sought = wordSequence(keyword, maxKeywordChars).trim();
    if (sought === '') return false;
    const [first = sought] = sought.split(' ', 1);
    // Most keywords are not in the text, and most are one word: both are known without searching through all of it.
    return all.has(first) && (first === sought || words.includes(` ${sought} `));
  });
}
