import { toBuffer } from '@ticketing/runtime/to-buffer.ts';
import { readText, type TicketText } from './ticket-text.ts';

/**
 * The features of a text: its hashed words and parts of words, with their counts.
 *
 * Shape: `hashes` ascending and unique, `counts` beside it, at most 255 each. The highest bit of a hash tells words
 * from parts of words.
 */
export interface Features {
  hashes: Uint32Array;
  counts: Uint8Array;
}

/** The bit of a hash that marks a word; the others are parts of words. */
export const wordBit = 0x8000_0000;
/** The length of the parts of words: long enough for stems and parts of compounds, whatever the language. */
const partLength = 5;
/** Characters of a word beyond this are no language: an encoded file, or one key held down. */
const maxWordLength = 40;
/** Shorter numbers belong to products, versions and errors. */
const maxDigits = 3;

/**
 * Turns a text into features. Numbers of more than three digits become one and the same word, so that no number of a
 * customer, a contract or a telephone is learned.
 */
export function extractFeatures(text: TicketText): Features {
  return extractWordFeatures(readText(text).words);
}

/** Turns folded words, with a space between each, into features. */
export function extractWordFeatures(words: string): Features {
  const counts = new Map<number, number>();
  const add = (hash: number) => counts.set(hash, (counts.get(hash) ?? 0) + 1);
  for (const word of words.split(' ')) if (word !== '') addWord(withoutNumber(word), add);
  const hashes = Uint32Array.from(counts.keys()).sort();
  return { hashes, counts: Uint8Array.from(hashes, (hash) => Math.min(255, counts.get(hash) ?? 0)) };
}

function withoutNumber(word: string): string {
  const digits = word.match(/\p{N}/gu)?.length ?? 0;
  return digits > maxDigits ? '0000' : word.slice(0, maxWordLength);
}

function addWord(word: string, add: (hash: number) => void): void {
  const bounded = ` ${word} `;
  add((hashText(bounded, 0, bounded.length) | wordBit) >>> 0);
  for (let start = 0; start === 0 || start + partLength <= bounded.length; start += 1) {
    add((hashText(bounded, start, Math.min(bounded.length, start + partLength)) & ~wordBit) >>> 0);
  }
}

/** FNV-1a over UTF-16 units, mixed so that all bits depend on all units. */
function hashText(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

const bytesPerFeature = 5;

/** Turns features into bytes: all hashes as little endian, then all counts. */
export function featuresToBytes({ hashes, counts }: Features): Uint8Array {
  const bytes = Buffer.alloc(hashes.length * bytesPerFeature);
  for (const [index, hash] of hashes.entries()) bytes.writeUInt32LE(hash, 4 * index);
  bytes.set(counts, 4 * hashes.length);
  return bytes;
}

/** Parses the bytes of `featuresToBytes`. */
export function featuresFromBytes(data: Uint8Array): Features {
  const bytes = toBuffer(data);
  const length = data.length / bytesPerFeature;
  const hashes = Uint32Array.from({ length }, (_, index) => bytes.readUInt32LE(4 * index));
  return { hashes, counts: Uint8Array.from(bytes.subarray(4 * length)) };
}
