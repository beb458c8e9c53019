import { spellPlainly, spellUmlauts } from './letters.ts';
import { type DefaultCountry, phoneSpellings } from './phone-number.ts';

export const maxWordLength = 64;
/** The characters of a text that are read, from its beginning. */
export const maxWordsTextLength = 200_000;

const defaultMaxWords = 2000;

/**
 * Splits texts into the distinct words by which a search finds them. A word is a run of letters and digits, without
 * differences of case, accents and width: `Größe` and `GROSSE` are the same word. Besides:
 *
 * - a word with umlauts is also spelt as without them: `muller` and `mueller` of `Müller`;
 * - a word with signs such as `C++` is there with and without them, and an emoji is a word;
 * - of a script without spaces, each piece of two characters is a word, and the last character;
 * - numbers that are written in groups are also there without what stands between these, as of `DE89 3704 0044`, and
 *   international telephone numbers as `phoneSpellings` has them.
 *
 * Shape: at most `maxWords` words, usually 2,000, of at most 64 characters, from the first 200,000 characters of each text.
 */
export function splitWords(texts: readonly (string | number | null)[], maxWords = defaultMaxWords): string[] {
  const words = new Set<string>();
  const attempts = { left: maxPhoneAttempts };
  for (const text of texts) {
    if (text === null) continue;
    for (const [piece, written] of foldedPieces(String(text).slice(0, maxWordsTextLength))) {
      eachWord(piece, written, attempts, (word) => {
        if (words.size < maxWords) words.add(word.slice(0, maxWordLength));
      });
      if (words.size >= maxWords) return [...words];
    }
  }
  return [...words];
}

function eachWord(piece: string, written: string, attempts: PhoneAttempts, add: (word: string) => void): void {
  const hasSpaces = !anySpaceless.test(piece);
  for (const token of piece.match(tokens) ?? []) {
    const plain = /[+#]$/.test(token) ? token.replace(/[+#]+$/, '') : token;
    if (hasSpaces) add(plain);
    else for (const part of scriptParts(plain)) (isSpaceless(part) ? characterPairs(part) : [part]).forEach(add);
    if (plain !== token) add(token);
  }
  for (const word of umlautWords(written).match(letterRuns) ?? []) add(word);
  for (const number of findNumbers(piece)) for (const word of numberWords(number, attempts)) add(word);
}

const letterRuns = /[\p{L}\p{N}]+/gu;
/** Words, with the signs of such as `C++`, and emoji. */
export const tokens = /[\p{L}\p{N}]+(?:[+#]{1,2}(?![\p{L}\p{N}+#]))?|\p{RI}{2}|\p{Extended_Pictographic}/gu;

const spaceless =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const anySpaceless = new RegExp(`[${spaceless}]`, 'u');
const parts = new RegExp(`[${spaceless}]+|[^${spaceless}]+`, 'gu');

/** The parts of a word that are of scripts without spaces, and the others. */
export function scriptParts(word: string): readonly string[] {
  return anySpaceless.test(word) ? (word.match(parts) ?? []) : [word];
}

/** Whether a part of a word is of a script without spaces. */
export const isSpaceless = (part: string) => anySpaceless.test(part);

/** Each piece of two characters, and the last character. */
export function characterPairs(text: string): string[] {
  const characters = [...text];
  return characters.map((character, at) => character + (characters[at + 1] ?? ''));
}

/** A number that is written in groups, or after letters. */
export interface WrittenNumber {
  /** Where it begins. */
  index: number;
  /** As it is written. */
  text: string;
  /** The letters before it; empty without. */
  letters: string;
  /** Its digits, in groups; of an IBAN, all of its letters and digits. */
  groups: readonly string[];
  isIban: boolean;
}

/** Groups of digits between which people write signs; up to four letters may stand before. */
const grouped = /(?:(?<![\p{L}\p{N}])(\p{L}{1,4})[ ./-]?|\+)?\d+(?:[ ./()\u2010-\u2015-]{1,3}\d+)*/gu;
/** The most characters that `grouped` has before the first digit: a letter may have two. */
const maxPrefixLength = 9;
/** An IBAN in groups of four, as it is printed. */
const iban = /(?=[a-z]{2}\d{2} )(?<![\p{L}\p{N}])[a-z]{2}\d{2}(?: [a-z\d]{4}){2,7}(?: [a-z\d]{1,3})?(?![\p{L}\p{N}])/gu;
/** Fewer digits are a date, or an amount. */
const leastDigits = 5;
const maxNumberLength = 34;
/** How many groups of one number are read: more are a table. */
const maxGroups = 50;

/** Finds the numbers in a text in lower case that have more than a few digits. An IBAN is found as another number too. */
export function* findNumbers(text: string): Generator<WrittenNumber> {
  if (!/\d/.test(text)) return;
  for (const { 0: written, index } of text.matchAll(iban)) {
    yield { index, text: written, letters: '', groups: written.split(' '), isIban: true };
  }
  for (const { 0: written, 1: letters = '', index } of groupedNumbers(text)) {
    const groups = written.match(/\d+/g) ?? [];
    if (groups.join('').length < leastDigits) continue;
    yield { index, text: written, letters, groups: groups.slice(0, maxGroups), isIban: false };
  }
}

/** Finds what `grouped` matches. It is sought from before the next digit on only, because letters are many. */
function* groupedNumbers(text: string): Generator<RegExpExecArray> {
  const digit = /\d/g;
  for (let at = 0; ; ) {
    digit.lastIndex = at;
    const next = digit.exec(text);
    if (!next) return;
    grouped.lastIndex = Math.max(at, next.index - maxPrefixLength);
    const found = grouped.exec(text);
    if (!found) return;
    at = grouped.lastIndex;
    yield found;
  }
}

/** The words of a number without what stands between its groups, from each of these on. */
function* numberWords(number: WrittenNumber, attempts: PhoneAttempts): Generator<string> {
  const { letters, groups } = number;
  if (letters !== '') yield joinGroups([letters, ...groups]);
  for (let at = 0; at < (number.isIban ? 1 : groups.length - 1); at++) {
    const word = joinGroups(groups.slice(at));
    if (word.length >= leastDigits) yield word;
  }
  if (!number.isIban) yield* phonesIn(number, null, attempts);
}

/** The groups of a number without what stands between them. */
export function joinGroups(groups: readonly string[]): string {
  return groups.join('').slice(0, maxNumberLength);
}

/** The most groups of a telephone number. */
const maxPhoneGroups = 8;
/** How often telephone numbers are tried to be read in all texts together. An attempt takes about 10 µs. */
const maxPhoneAttempts = 100;

/** How many attempts to read a telephone number are left. */
export interface PhoneAttempts {
  left: number;
}

/** The spellings of the telephone numbers that begin with a group of a number. */
export function* phonesIn(
  { text, groups }: WrittenNumber,
  defaultCountry: DefaultCountry,
  attempts: PhoneAttempts,
): Generator<string> {
  // A number without the code of a country is none without a country.
  const prefix = defaultCountry === null ? '00' : '0';
  for (const [at, group] of groups.entries()) {
    const plus = at === 0 && text.startsWith('+') ? '+' : '';
    if (plus === '' && !group.startsWith(prefix)) continue;
    // Other numbers may follow.
    for (let end = Math.min(groups.length, at + maxPhoneGroups); end > at && attempts.left > 0; end--) {
      attempts.left -= 1;
      const spellings = phoneSpellings(plus + groups.slice(at, end).join(' '), defaultCountry);
      if (spellings.length === 0) continue;
      yield* spellings;
      break;
    }
  }
}

/**
 * Returns the words of a text in their order, folded as `splitWords` does, with a space before and after each: `
 * vertrag 4711 `. Only the first `maxLength` characters are read.
 */
export function wordSequence(text: string | null, maxLength: number): string {
  const words: string[] = [];
  for (const [piece] of foldedPieces((text ?? '').slice(0, maxLength))) {
    for (const [word] of piece.matchAll(letterRuns)) words.push(word);
  }
  return ` ${words.join(' ')} `;
}

/**
 * Folds a text piece by piece, until the result is three times as long, as Korean becomes: one character can become 18. A
 * piece ends where no word does, unless the word is longer than any that is kept. With each comes what was folded.
 */
function* foldedPieces(text: string): Generator<[piece: string, written: string]> {
  const maxLength = 3 * text.length + pieceLength;
  let length = 0;
  for (let start = 0; start < text.length && length < maxLength; ) {
    const end = findPieceEnd(text, start + pieceLength);
    const written = text.slice(start, end);
    const piece = fold(written).slice(0, maxLength - length);
    length += piece.length;
    yield [piece, written];
    start = end;
  }
}

const pieceLength = 4096;
const wordEnd = /[^\p{L}\p{N}\p{M}]/u;

/** Where a piece ends: between words, and not within a number that is written in groups, if there is such a place. */
function findPieceEnd(text: string, from: number): number {
  const space = text.slice(from, from + pieceLength).search(/\s(?![\d(+])/);
  if (space !== -1) return from + space + 1;
  const end = text.slice(from, from + pieceLength).search(wordEnd);
  return end === -1 ? from + pieceLength : from + end + 1;
}

/** The words of a text that have umlauts, folded, and spelt without them. */
function umlautWords(text: string): string {
  const plain = text.normalize('NFC').toLowerCase();
  if (!/[äöü]/.test(plain)) return '';
  const words = plain.match(/[\p{L}\p{N}\p{Cf}]+/gu) ?? [];
  return fold(spellUmlauts(words.filter((word) => /[äöü]/.test(word)).join(' ')));
}

/** Returns a text without differences of case, accents and width, and without what nobody sees. */
export function fold(text: string): string {
  return spellPlainly(text.normalize('NFKD').replace(invisible, '').toLowerCase()).replaceAll('ς', 'σ');
}

/** Accents, signs of format such as soft hyphens, and the Arabic sign that only stretches words. */
const invisible = /[\p{M}\p{Cf}\u0640]+/gu;
