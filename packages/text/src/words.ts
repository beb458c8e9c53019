const defaultMaxWords = 2000;
const maxWordLength = 64;
/** The characters of a text that are read, from its beginning. */
export const maxWordsTextLength = 200_000;

/**
 * Splits texts into the distinct words by which the full text search finds them. A word is a run of letters and digits,
 * without differences of case, accents and width: `Größe` and `GROSSE` are the same word, as are `café` and `cafe`.
 * E-mail addresses and ids with punctuation are several words.
 *
 * Shape: at most `maxWords` words, usually 2,000, of at most 64 characters, from the first 200,000 characters of each text.
 */
export function splitWords(texts: readonly (string | number | null)[], maxWords = defaultMaxWords): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (text === null) continue;
    for (const piece of foldedPieces(String(text).slice(0, maxWordsTextLength))) {
      for (const [word] of piece.matchAll(/[\p{L}\p{N}]+/gu)) {
        if (words.size >= maxWords) return [...words];
        words.add(word.slice(0, maxWordLength));
      }
    }
  }
  return [...words];
}

/**
 * Returns the words of a text in their order, folded as `splitWords` does, with a space before and after each: `
 * vertrag 4711 `. Only the first `maxLength` characters are read.
 */
export function wordSequence(text: string | null, maxLength: number): string {
  const words: string[] = [];
  for (const piece of foldedPieces((text ?? '').slice(0, maxLength))) {
    for (const [word] of piece.matchAll(/[\p{L}\p{N}]+/gu)) words.push(word);
  }
  return ` ${words.join(' ')} `;
}

/**
 * Folds a text piece by piece, until the result is three times as long, as Korean becomes: one character can become 18. A
 * piece ends where no word does, unless the word is longer than any that is kept.
 */
function* foldedPieces(text: string): Generator<string> {
  const maxLength = 3 * text.length + pieceLength;
  let length = 0;
  for (let start = 0; start < text.length && length < maxLength; ) {
    wordEnd.lastIndex = start + pieceLength;
    const end = (wordEnd.exec(text)?.index ?? text.length) + 1;
    const piece = fold(text.slice(start, end));
    length += piece.length;
    yield piece;
    start = end;
  }
}

const pieceLength = 4096;
const wordEnd = /[^\p{L}\p{N}\p{M}]/gu;

/** Returns a text without differences of case, accents and width. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');
}
