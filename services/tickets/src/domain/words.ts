const maxWords = 2000;
const maxWordLength = 64;
const maxTextLength = 200_000;

/**
 * Splits texts into the distinct words by which the full text search finds them. A word is a run of letters and digits,
 * without differences of case, accents and width: `Größe` and `GROSSE` are the same word, as are `café` and `cafe`.
 * E-mail addresses and ids with punctuation are several words.
 *
 * Shape: at most 2,000 words of at most 64 characters, from the first 200,000 characters of each text.
 */
export function wordsOf(texts: readonly (string | number | null)[]): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (text === null) continue;
    for (const [word] of fold(String(text).slice(0, maxTextLength)).matchAll(/[\p{L}\p{N}]+/gu)) {
      if (words.size >= maxWords) return [...words];
      words.add(word.slice(0, maxWordLength));
    }
  }
  return [...words];
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');
}
