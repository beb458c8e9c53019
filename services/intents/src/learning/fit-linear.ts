import { type LinearProblem, linearLoss } from './linear-loss.ts';
import { minimise, type Objective } from './minimise.ts';
import type { Vector } from './vocabulary.ts';

/** Weights of features, and the bias that is added to their sum. */
export interface LinearWeights {
  weights: Float32Array;
  bias: number;
}

/** The fit ends where the gradient has shrunk to this part of its length with all weights 0. */
const tolerance = 0.1;

/**
 * Fits logistic regressions, one for each column. They are regularised by the squares of the weights, and right and
 * wrong (of exclusive labels: all labels) count alike, however many examples they have. The problem is convex: the
 * result is the same from any `start`, only sooner from a near one.
 */
export function fitLinear(problem: LinearProblem, start?: readonly (LinearWeights | undefined)[]): LinearWeights[] {
  const { features, columns } = problem;
  const loss = linearLoss(problem);
  const zero = new Float64Array((features + 1) * columns);
  const first = start ? startingPoint(start, features) : zero;
  const point = minimise(loss, first, tolerance * gradientLength(loss, zero));
  return Array.from({ length: columns }, (_, column) => ({
    weights: Float32Array.from({ length: features }, (_, index) => point[index * columns + column] ?? 0),
    bias: point[features * columns + column] ?? 0,
  }));
}

/** Returns the score of a text, which is the higher the more likely the label is right. */
export function computeScore({ indices, values }: Vector, { weights, bias }: LinearWeights): number {
  let sum = bias;
  for (let position = 0; position < indices.length; position += 1) {
    sum += (values[position] ?? 0) * (weights[indices[position] ?? 0] ?? 0);
  }
  return sum;
}

function gradientLength(loss: Objective, point: Float64Array): number {
  const gradient = new Float64Array(point.length);
  loss.at(point, gradient);
  return Math.sqrt(gradient.reduce((sum, slope) => sum + slope * slope, 0));
}

/** A point has the weights of all columns beside each other, feature by feature, and the biases at its end. */
function startingPoint(start: readonly (LinearWeights | undefined)[], features: number): Float64Array {
  const point = new Float64Array((features + 1) * start.length);
  for (const [column, known] of start.entries()) {
    if (!known) continue;
    for (let index = 0; index < features; index += 1) point[index * start.length + column] = known.weights[index] ?? 0;
    point[features * start.length + column] = known.bias;
  }
  return point;
}
