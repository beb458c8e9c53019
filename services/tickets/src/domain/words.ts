const maxWords = 2000;
const maxWordLength = 64;
const maxTextLength = 200_000;

/**
 * Splits texts into the distinct words by which they are found: folded in case, accents and width (`Größe` and `GROSSE`
 * are the same word, as are `café` and `cafe`). E-mail addresses and ids with punctuation are found whole and by their
 * parts.
 *
 * Shape: at most 2,000 words of at most 64 characters, from the first 200,000 characters of each text.
 */
export function wordsOf(texts: readonly (string | number | null)[]): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (text === null) continue;
    for (const word of tokens(String(text).slice(0, maxTextLength))) {
      if (words.size >= maxWords) return [...words];
      words.add(word);
    }
  }
  return [...words];
}

/** The words of a query, all of which must be found; a compound is looked for as a whole. */
export function queryWords(query: string): string[] {
  const whole = fold(query)
    .split(/\s+/)
    .map(trimPunctuation)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, maxWordLength));
  return [...new Set(whole)];
}

function* tokens(text: string): Generator<string> {
  for (const chunk of fold(text).split(/\s+/)) {
    const whole = trimPunctuation(chunk);
    if (whole === '') continue;
    yield whole.slice(0, maxWordLength);
    const parts = whole.split(/[^\p{L}\p{N}]+/u);
    if (parts.length > 1) for (const part of parts) if (part !== '') yield part.slice(0, maxWordLength);
  }
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');
}

function trimPunctuation(word: string): string {
  return word.replace(/^[^\p{L}\p{N}]+/u, '').replace(/[^\p{L}\p{N}]+$/u, '');
}
