import { computeF1, measureQuality, type Quality } from '../../services/intents/src/learning/quality.ts';

/** A claim of the analysis: its confidence, and whether it is right. */
export interface Claim {
  confidence: number;
  isRight: boolean;
}

const bins = 10;

/**
 * The expected calibration error over ten bins of the same width: the average distance of the confidences from the
 * share of right claims. 0 is honest.
 */
export function calibrationError(claims: readonly Claim[]): number {
  const sums = new Float64Array(bins);
  for (const { confidence, isRight } of claims) {
    const bin = Math.min(bins - 1, Math.floor(confidence * bins));
    sums[bin] = (sums[bin] ?? 0) + confidence - (isRight ? 1 : 0);
  }
  return sums.reduce((total, sum) => total + Math.abs(sum), 0) / Math.max(1, claims.length);
}

/** The value below which this part of the values is. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** The mean of numbers; 0 of none. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** The quality of each label that is chosen or right, by label. */
export function qualities(chosen: readonly string[], right: readonly string[]): Map<string, Quality> {
  const labels = new Set([...right, ...chosen]);
  const of = (label: string) =>
    measureQuality(
      chosen.map((one) => one === label),
      right.map((one) => one === label),
    );
  return new Map([...labels].sort().map((label) => [label, of(label)]));
}

/** The mean F1 of all labels: rare ones count as much as frequent ones. */
export function macroF1(chosen: readonly string[], right: readonly string[]): number {
  return mean([...qualities(chosen, right).values()].map(computeF1));
}

/** The quality over all labels of all tickets together. */
export function microQuality(
  found: readonly ReadonlySet<number>[],
  right: readonly ReadonlySet<number>[],
  labels: readonly number[],
): Quality {
  const flags = (sets: readonly ReadonlySet<number>[]) => sets.flatMap((set) => labels.map((label) => set.has(label)));
  return measureQuality(flags(found), flags(right));
}

/** The value that occurs most often; the first of several. */
export function mostFrequent<Value>(values: readonly Value[]): Value | undefined {
  return byFrequency(values)[0]?.[0];
}

/** Values with how often they occur, the most frequent first. */
export function byFrequency<Value>(values: readonly Value[]): [Value, number][] {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, left], [, right]) => right - left);
}
