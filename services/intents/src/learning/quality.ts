/** How well a label is found. */
export interface Quality {
  /** How often the label was right. */
  examples: number;
  /** The part of what was found that is right; null if nothing was found. */
  precision: number | null;
  /** The part of what is right that was found; null if nothing is right. */
  recall: number | null;
}

/** Compares what was found with what is right. */
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
