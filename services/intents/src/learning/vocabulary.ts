import { type Features, wordBit } from './features.ts';

/** The features that a model knows, ascending by hash, each with its weight: the rarer, the higher. */
export interface Vocabulary {
  hashes: Uint32Array;
  idf: Float32Array;
}

/** A text as the classifiers see it: positions in the vocabulary, ascending, and their values. */
export interface Vector {
  indices: Uint32Array;
  values: Float32Array;
}

/**
 * The fewest different texts with a feature from which it is learned, so that no model contains words of only one or
 * two tickets. Texts with the same features count as one.
 */
export const minTexts = 3;
/** The most features of a model: the ones that occur in the most texts. */
export const maxFeatures = 32_768;

/** Makes the vocabulary of different texts. */
export function buildVocabulary(texts: readonly Features[]): Vocabulary {
  const frequencies = new Map<number, number>();
  for (const { hashes } of texts) {
    for (const hash of hashes) frequencies.set(hash, (frequencies.get(hash) ?? 0) + 1);
  }
  const kept = [...frequencies]
    .filter(([, frequency]) => frequency >= minTexts)
    .sort(([left, leftTexts], [right, rightTexts]) => rightTexts - leftTexts || left - right)
    .slice(0, maxFeatures)
    .sort(([left], [right]) => left - right);
  return {
    hashes: Uint32Array.from(kept, ([hash]) => hash),
    idf: Float32Array.from(kept, ([, frequency]) => 1 + Math.log((1 + texts.length) / (1 + frequency))),
  };
}

/**
 * Converts a text to TF-IDF: the logarithm of the frequency, times the rarity. Words and parts of words are each scaled
 * to the length 1, so that neither outweighs the other, and long texts do not outweigh short ones.
 */
export function toVector({ hashes, counts }: Features, vocabulary: Vocabulary): Vector {
  const indices: number[] = [];
  const values: number[] = [];
  let wordSquares = 0;
  let partSquares = 0;
  for (const [position, hash] of hashes.entries()) {
    const index = findIndex(vocabulary.hashes, hash);
    if (index === undefined) continue;
    const value = (1 + Math.log(counts[position] ?? 1)) * (vocabulary.idf[index] ?? 0);
    indices.push(index);
    values.push(value);
    if (isWord(hash)) wordSquares += value * value;
    else partSquares += value * value;
  }
  const scaled = values.map((value, position) => {
    const squares = isWord(vocabulary.hashes[indices[position] ?? 0] ?? 0) ? wordSquares : partSquares;
    return value / Math.sqrt(squares);
  });
  return { indices: Uint32Array.from(indices), values: Float32Array.from(scaled) };
}

/** Returns the position of a hash in an ascending list. */
export function findIndex(hashes: Uint32Array, hash: number): number | undefined {
  let low = 0;
  let high = hashes.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = hashes[middle] ?? 0;
    if (found === hash) return middle;
    if (found < hash) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

function isWord(hash: number): boolean {
  return hash >= wordBit;
}
