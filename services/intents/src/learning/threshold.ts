/** A label that was found with a probability, and whether it is right. */
export interface Guessed {
  probability: number;
  isTrue: boolean;
}

/** The threshold of the probability at which the F1 of all guesses together is highest; 0.5 if none is right. */
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
