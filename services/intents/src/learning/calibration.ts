/** Turns a score into a probability: `1 / (1 + exp(-(slope * score + offset)))`. */
export interface Calibration {
  slope: number;
  offset: number;
}

/** Converts a score to a probability. */
export function toProbability(score: number, { slope, offset }: Calibration): number {
  return 1 / (1 + Math.exp(-(slope * score + offset)));
}

const maxSteps = 50;
const enough = 1e-9;

/**
 * Fits the calibration of a score to the truth (J. Platt, Probabilistic Outputs for Support Vector Machines, 1999), by
 * Newton's method. The scores must come from models that had not seen the examples. The truth counts as a little less
 * than certain, so that few examples do not give certainty.
 */
export function calibrate(scores: readonly number[], truth: readonly boolean[]): Calibration {
  const positives = truth.filter(Boolean).length;
  const targets = truth.map((isTrue) =>
    isTrue ? (positives + 1) / (positives + 2) : 1 / (truth.length - positives + 2),
  );
  let best: Calibration = { slope: 0, offset: Math.log((positives + 1) / (truth.length - positives + 1)) };
  let loss = computeLoss(scores, targets, best);
  for (let count = 0; count < maxSteps; count += 1) {
    const step = newtonStep(scores, targets, best);
    let rate = 1;
    let next = best;
    let nextLoss = loss;
    do {
      next = { slope: best.slope + rate * step.slope, offset: best.offset + rate * step.offset };
      nextLoss = computeLoss(scores, targets, next);
      rate /= 2;
    } while (!(nextLoss <= loss) && rate > 1e-10);
    const gain = loss - nextLoss;
    if (!(gain >= 0)) break;
    best = next;
    loss = nextLoss;
    if (gain < enough * (1 + Math.abs(loss))) break;
  }
  return best;
}

function newtonStep(scores: readonly number[], targets: readonly number[], at: Calibration): Calibration {
  const ridge = 1e-9;
  let [slopeSlope, slopeOffset, offsetOffset, slope, offset] = [ridge, 0, ridge, 0, 0];
  for (const [index, score] of scores.entries()) {
    const probability = toProbability(score, at);
    const variance = probability * (1 - probability);
    const error = probability - (targets[index] ?? 0);
    slopeSlope += score * score * variance;
    slopeOffset += score * variance;
    offsetOffset += variance;
    slope += score * error;
    offset += error;
  }
  const determinant = slopeSlope * offsetOffset - slopeOffset * slopeOffset;
  return {
    slope: -(offsetOffset * slope - slopeOffset * offset) / determinant,
    offset: -(slopeSlope * offset - slopeOffset * slope) / determinant,
  };
}

function computeLoss(scores: readonly number[], targets: readonly number[], { slope, offset }: Calibration): number {
  let loss = 0;
  for (const [index, score] of scores.entries()) {
    const value = slope * score + offset;
    const softplus = value > 0 ? value + Math.log1p(Math.exp(-value)) : Math.log1p(Math.exp(value));
    loss += softplus - (targets[index] ?? 0) * value;
  }
  return loss;
}
