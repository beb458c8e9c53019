/** The quality with which a label is found. */
export interface Quality {
  /** The number of examples with the label. */
  examples: number;
  /** The share of right ones among the found; null if nothing was found. */
  precision: number | null;
  /** The share of found ones among the right; null if nothing is right. */
  recall: number | null;
}

/** Compares the examples in which a label was found with those in which it is right. */
export function measureQuality(found: readonly boolean[], right: readonly boolean[]): Quality {
  const examples = right.filter(Boolean).length;
  const foundCount = found.filter(Boolean).length;
  const both = found.filter((isFound, index) => isFound && right[index]).length;
  return {
    examples,
    precision: foundCount === 0 ? null : both / foundCount,
    recall: examples === 0 ? null : both / examples,
  };
}

/** Returns the harmonic mean of precision and recall; 0 where nothing was found, or nothing is right. */
export function computeF1({ precision, recall }: Quality): number {
  if (!precision || !recall) return 0;
  return (2 * precision * recall) / (precision + recall);
}

/** A label that was found with a probability, and whether it is right. */
export interface Guessed {
  probability: number;
  isTrue: boolean;
}

/** Returns the threshold of the probability at which the F1 of all guesses together is highest; 0.5 if none is right. */
export function bestThreshold(guesses: readonly Guessed[]): number {
  const total = guesses.filter(({ isTrue }) => isTrue).length;
  const sorted = guesses.toSorted((left, right) => right.probability - left.probability);
  let best = { f1: 0, threshold: 0.5 };
  let right = 0;
  for (const [index, { probability, isTrue }] of sorted.entries()) {
    if (isTrue) right += 1;
    // Guesses with the same probability are above a threshold together.
    if (sorted[index + 1]?.probability === probability) continue;
    const f1 = (2 * right) / (index + 1 + total);
    if (f1 > best.f1) best = { f1, threshold: probability };
  }
  return best.threshold;
}
