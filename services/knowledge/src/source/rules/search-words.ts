import { maxWordsTextLength, splitWords } from '@ticketing/text/words.ts';

/** How many different words of a text are found. */
export const maxTextWords = 10_000;
/** How many words a search may have. */
export const maxSearchWords = 16;

const umlauts: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue' };

/** Returns the words of texts as the search compares them; a word with an umlaut is also returned spelt without it. */
export function toSearchWords(texts: readonly string[], maxWords: number): string[] {
  return splitWords([...texts, ...texts.map(spellings)], maxWords);
}

/** Returns the words of the title and the name of a source. */
export function toTitleWords({ title, name }: { title: string; name: string }): string[] {
  return toSearchWords([title, name], maxTextWords);
}

/** Returns each word of a search with its spellings; it matches words that begin with one of them. */
export function searchedWords(q: string): string[][] {
  const words = q.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words.map((word) => toSearchWords([word], 2)).filter((forms) => forms.length > 0);
}

/** Returns the words with an umlaut, spelt without it. Only as much of a text is read as `splitWords` reads. */
function spellings(text: string): string {
  const spelt: string[] = [];
  for (const [word] of text
    .slice(0, maxWordsTextLength)
    .normalize('NFC')
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    const other = word.replace(/[äöüÄÖÜ]/g, (one) => umlauts[one] ?? one);
    if (other !== word) spelt.push(other);
  }
  return spelt.join(' ');
}
