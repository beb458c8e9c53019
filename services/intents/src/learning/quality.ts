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
export function qualityOf(found: readonly boolean[], right: readonly boolean[]): Quality {
  const examples = right.filter(Boolean).length;
  const foundCount = found.filter(Boolean).length;
  const both = found.filter((isFound, index) => isFound && right[index]).length;
  return {
    examples,
    precision: foundCount === 0 ? null : both / foundCount,
    recall: examples === 0 ? null : both / examples,
  };
}

/** The harmonic mean of precision and recall; 0 where nothing was found, or nothing is right. */
export function f1Of({ precision, recall }: Quality): number {
  if (!precision || !recall) return 0;
  return (2 * precision * recall) / (precision + recall);
}
