import type { Objective } from './minimise.ts';
import type { Vector } from './vocabulary.ts';

/** The examples to which linear models are fitted. */
export interface LinearProblem {
  vectors: readonly Vector[];
  /** The number of features. */
  features: number;
  /** A byte per column for each vector: 1 if the label of the column is right. */
  labels: Uint8Array;
  columns: number;
  /** Whether each vector has exactly one of the labels (softmax); otherwise each label is right or wrong by itself. */
  isExclusive: boolean;
}

/** The weight of the examples against the size of the weights: C in other libraries. */
const cost = 3;

/**
 * Returns the loss of linear models: half the squares of the weights, and for each example how surprising its labels
 * are. All columns are computed at once, because reading the texts takes longer than computing: 16 columns take three
 * times as long as one.
 */
export function linearLoss(problem: LinearProblem): Objective {
  const { features, columns, labels } = problem;
  const rows = toRows(problem);
  const surprise = problem.isExclusive ? surpriseOfOne(problem) : surpriseOfEach(problem);
  const scores = new Float64Array(columns);
  return {
    at(point, gradient) {
      let loss = startWithSquares(point, gradient, features * columns);
      for (let row = 0; row + 1 < rows.starts.length; row += 1) {
        addScores(scores, point, rows, row);
        loss += surprise(scores, labels, row * columns);
        addGradient(gradient, scores, rows, row);
      }
      return loss;
    },
    curvature: computeCurvature(rows, problem),
  };
}

/** Returns the curvature where all weights are 0 and no label is more probable than another. */
function computeCurvature({ indices, values }: Rows, { features, columns, isExclusive }: LinearProblem): Float64Array {
  const squares = new Float64Array(features + 1);
  for (const [position, index] of indices.entries())
    squares[index] = (squares[index] ?? 0) + (values[position] ?? 0) ** 2;
  const probability = isExclusive ? 1 / columns : 1 / 2;
  const scale = cost * probability * (1 - probability);
  return Float64Array.from({ length: squares.length * columns }, (_, index) => {
    const feature = Math.floor(index / columns);
    return (feature === features ? 0 : 1) + scale * (squares[feature] ?? 0);
  });
}

/** All vectors in a row, and where each starts. The last feature, which each vector has, is the bias. */
interface Rows {
  starts: Uint32Array;
  indices: Uint32Array;
  values: Float32Array;
}

function toRows({ vectors, features }: LinearProblem): Rows {
  const total = vectors.reduce((sum, { indices }) => sum + indices.length + 1, 0);
  const rows = {
    starts: new Uint32Array(vectors.length + 1),
    indices: new Uint32Array(total),
    values: new Float32Array(total),
  };
  let at = 0;
  for (const [row, { indices, values }] of vectors.entries()) {
    rows.indices.set(indices, at);
    rows.values.set(values, at);
    at += indices.length;
    rows.indices[at] = features;
    rows.values[at] = 1;
    at += 1;
    rows.starts[row + 1] = at;
  }
  return rows;
}

/** Returns half the squares of the weights, and sets the gradient to their gradient. The bias has no cost. */
function startWithSquares(point: Float64Array, gradient: Float64Array, count: number): number {
  gradient.fill(0);
  let squares = 0;
  for (let index = 0; index < count; index += 1) {
    const weight = point[index] ?? 0;
    squares += weight * weight;
    gradient[index] = weight;
  }
  return squares / 2;
}

function addScores(scores: Float64Array, point: Float64Array, { starts, indices, values }: Rows, row: number): void {
  const columns = scores.length;
  scores.fill(0);
  const end = starts[row + 1] ?? 0;
  for (let position = starts[row] ?? 0; position < end; position += 1) {
    const value = values[position] ?? 0;
    const base = (indices[position] ?? 0) * columns;
    for (let column = 0; column < columns; column += 1) {
      scores[column] = (scores[column] ?? 0) + value * (point[base + column] ?? 0);
    }
  }
}

function addGradient(
  gradient: Float64Array,
  slopes: Float64Array,
  { starts, indices, values }: Rows,
  row: number,
): void {
  const columns = slopes.length;
  const end = starts[row + 1] ?? 0;
  for (let position = starts[row] ?? 0; position < end; position += 1) {
    const value = values[position] ?? 0;
    const base = (indices[position] ?? 0) * columns;
    for (let column = 0; column < columns; column += 1) {
      gradient[base + column] = (gradient[base + column] ?? 0) + value * (slopes[column] ?? 0);
    }
  }
}

/** Replaces the scores of an example by the slopes of the loss, and returns the loss. */
type Surprise = (scores: Float64Array, labels: Uint8Array, at: number) => number;

function surpriseOfEach({ labels, columns }: LinearProblem): Surprise {
  const rows = labels.length / columns;
  const counts = countLabels(labels, columns);
  const costs = counts.map((count) => [balancedCost(rows - count, rows, 2), balancedCost(count, rows, 2)]);
  return (scores, truth, at) => {
    let loss = 0;
    for (let column = 0; column < columns; column += 1) {
      const score = scores[column] ?? 0;
      const label = truth[at + column] ?? 0;
      const weight = costs[column]?.[label] ?? 0;
      const margin = label === 1 ? score : -score;
      loss += weight * (margin > 0 ? Math.log1p(Math.exp(-margin)) : Math.log1p(Math.exp(margin)) - margin);
      scores[column] = weight * (1 / (1 + Math.exp(-score)) - label);
    }
    return loss;
  };
}

function surpriseOfOne({ labels, columns }: LinearProblem): Surprise {
  const counts = countLabels(labels, columns);
  const used = counts.filter((count) => count > 0).length;
  const costs = counts.map((count) => balancedCost(count, labels.length / columns, used));
  return (scores, truth, at) => {
    const actual = truth.indexOf(1, at) - at;
    const weight = costs[actual] ?? 0;
    const highest = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
    const sum = scores.reduce((total, score) => total + Math.exp(score - highest), 0);
    const loss = weight * (Math.log(sum) + highest - (scores[actual] ?? 0));
    for (let column = 0; column < columns; column += 1) {
      const probability = Math.exp((scores[column] ?? 0) - highest) / sum;
      scores[column] = weight * (probability - (column === actual ? 1 : 0));
    }
    return loss;
  };
}

function countLabels(labels: Uint8Array, columns: number): number[] {
  const counts = new Array<number>(columns).fill(0);
  for (let index = 0; index < labels.length; index += 1) {
    counts[index % columns] = (counts[index % columns] ?? 0) + (labels[index] ?? 0);
  }
  return counts;
}

/** Returns the cost of an example of a label: rare labels cost more, so that all labels weigh the same. */
function balancedCost(count: number, rows: number, used: number): number {
  return count === 0 ? 0 : (cost * rows) / (used * count);
}
